import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { describeApi } from '../../src/transport/rest/openapi/document.ts';
import { routes } from '../../src/transport/routes.ts';

type Node = Record<string, unknown>;
const document = describeApi(routes);

/** Every object below a node, with its place. */
function* objectsIn(node: unknown, place = ''): Generator<[string, Node]> {
  if (typeof node !== 'object' || node === null) return;
  yield [place, node as Node];
  for (const [name, child] of Object.entries(node)) yield* objectsIn(child, `${place}/${name}`);
}

const operations = Object.values(document.paths ?? {}).flatMap((path) => Object.values(path));

describe('a client generator', () => {
  test('reads no default, which would make a field of a request required', () => {
    const defaults = [...objectsIn(document)].filter(([, node]) => 'default' in node);
    expect(defaults.map(([place]) => place)).toEqual([]);
  });

  test('finds a description of every field', () => {
    const undescribed = [...objectsIn(document.components?.schemas)].flatMap(
      ([place, { properties }]) =>
        [...objectsIn(properties)]
          .filter(([path]) => /^\/[^/]+$/.test(path))
          .filter(([, field]) => !['description', '$ref', 'allOf'].some((name) => name in field))
          .map(([path]) => `${place}${path}`),
    );
    expect(undescribed.filter((place) => !place.includes('/examples/'))).toEqual([]);
  });

  test('copies the default of each field in words', () => {
    const fields = routes.flatMap(({ input: { body, query } }) =>
      [body, query].flatMap((part) =>
        part instanceof z.ZodObject ? Object.entries<z.ZodType>(part.shape) : [],
      ),
    );
    const defaults = fields.flatMap(([name, field]) => {
      const value = field.safeParse(undefined).data;
      return value === undefined || typeof value === 'object' ? [] : [{ name, field, value }];
    });
    expect(defaults.map(({ name }) => name)).toEqual(expect.arrayContaining(['stream', 'limit']));
    for (const { name, field, value } of defaults)
      expect([name, field.meta()?.description]).toEqual([
        name,
        expect.stringContaining(`Defaults to \`${value}\``),
      ]);
  });

  test('finds one type for each body of a request', () => {
    const bodies = operations.flatMap(({ operationId, requestBody }) =>
      requestBody ? [[operationId, Object.keys(requestBody.content)]] : [],
    );
    expect(bodies.length).toBeGreaterThan(3);
    for (const [id, types] of bodies) expect([id, types]).toEqual([id, ['application/json']]);
  });

  test('finds one type for each successful response, JSON where that is the default', () => {
    const types = operations.map(({ operationId, responses }) => [
      operationId,
      Object.keys(responses[200].content),
    ]);
    const streams = ['streamChat', 'streamChatByQuery', 'followRun'];
    for (const [id, found] of types)
      expect([id, found]).toEqual([
        id,
        [streams.includes(id) ? 'text/event-stream' : 'application/json'],
      ]);
  });

  test('names each type by its component, and each method by its operation', () => {
    const components = Object.keys(document.components?.schemas ?? {});
    expect(components.filter((name) => !/^[A-Z][A-Za-z]+$/.test(name))).toEqual([]);
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('gets the full address of the server where it is known, and else what to set', () => {
    expect(describeApi(routes, 'https://bots.example/parley')).toMatchObject({
      servers: [{ url: 'https://bots.example/parley/v1' }],
      info: { contact: { url: 'https://bots.example/parley' } },
    });
    expect(document.servers).toEqual([
      { url: '/v1', description: expect.stringContaining('PUBLIC_URL') },
    ]);
  });
});
