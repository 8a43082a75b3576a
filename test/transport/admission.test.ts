import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { schema } from '../../src/schema/index.ts';
import { createDocuments } from '../../src/transport/graphql/documents.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { WAYS } from '../helpers/transports.ts';

const MINUTE = 60;
let now = Date.UTC(2026, 10, 20, 12) / 1_000;
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ clock: () => now * 1_000 });
});

/** Starts a new rate-limit minute for each test. */
beforeEach(() => {
  now += MINUTE;
});

const ways = Object.entries(WAYS);
const times = <Item>(count: number, make: (index: number) => Item) =>
  Array.from({ length: count }, (_, index) => make(index));

const remaining = async ({ headers }: Pick<Tenant, 'headers'>) => {
  const answer = await fetch(`${app.url}/v1/nothing`, { headers });
  return Number(answer.headers.get('x-ratelimit-remaining'));
};

const NOT_VALID: [string, { query: string; documentId?: string }][] = [
  ['does not parse', { query: '{' }],
  ['names unknown fields', { query: `{ ${times(330, (i) => `no${i}`).join(' ')} }` }],
  ['lacks an argument', { query: '{ bot { id } }' }],
  ['is nested too deeply', { query: '{a'.repeat(50_000) }],
  ['has no text', { query: '' }],
  ['has an unknown id', { query: '', documentId: 'nothing' }],
  ['has a long name', { query: `{ ${'a'.repeat(257)}: __typename }` }],
  ['has many variables', { query: `query (${times(101, (i) => `$v${i}: Int`)}) { __typename }` }],
  ['has many comments', { query: `{ __typename }${'#\n'.repeat(20_001)}` }],
];

describe.each(ways)('an invalid document over %s', (_way, send) => {
  test.each(NOT_VALID)(
    'that %s counts as 1 request and gets few errors',
    async (_what, operation) => {
      const tenant = await app.tenant({ requestsPerMinute: 100 });
      const results = await send(app, tenant.apiKey, operation).catch((error) => [error]);
      expect(JSON.stringify(results).length).toBeLessThan(3_000);
      expect(results[0]?.errors?.length ?? 1).toBeLessThanOrEqual(6);
      expect(await remaining(tenant)).toBe(98);
    },
  );

  test('of many lines is refused before the lines of its errors are counted', async () => {
    const tenant = await app.tenant();
    const query = `${'\n'.repeat(10_000)}${'\r'.repeat(10_001)}{ a b c d e f }`;
    const [result] = await send(app, tenant.apiKey, { query });
    const message = 'The document has 20001 line breaks; at most 20000 are allowed.';
    expect(result?.errors).toMatchObject([{ message }]);
  });

  test('is not parsed if the caller has no requests left', async () => {
    const tenant = await app.tenant({ requestsPerMinute: 1 });
    await remaining(tenant);
    for (const query of ['{', '{ nothing }']) {
      const [result] = await send(app, tenant.apiKey, { query });
      expect(result?.errors).toMatchObject([{ extensions: { code: 'RATE_LIMIT_EXCEEDED' } }]);
    }
  });
});

describe('an invalid document without a key counts against the address', () => {
  const json = { 'content-type': 'application/json' };
  const post = (path: string, body: string, headers = json) =>
    fetch(app.url + path, { method: 'POST', headers, body });
  const get = (path: string, accept: string) => fetch(app.url + path, { headers: { accept } });
  const events = { ...json, accept: 'text/event-stream' };

  test.each<[string, () => Promise<Response>]>([
    ['by POST', () => post('/graphql', '{"query": "{ nothing }"}')],
    ['by GET', () => get('/graphql?query={nothing}', 'application/json')],
    ['in a batch', () => post('/graphql', '[{"query": "{ nothing }"}]')],
    ['as invalid JSON', () => post('/graphql', '{"query": ')],
    [
      'under another content type',
      () => post('/graphql', '{nothing}', { 'content-type': 'application/graphql' }),
    ],
    [
      'by POST of an event stream',
      () => post('/graphql/stream', '{"query": "{ nothing }"}', events),
    ],
    [
      'by GET of an event stream',
      () => get('/graphql/stream?query={nothing}', 'text/event-stream'),
    ],
    ['in a batch of an event stream', () => post('/graphql/stream', '[]', events)],
    ['with an unknown id', () => post('/graphql', '{"documentId": "nothing"}')],
  ])('%s', async (_what, send) => {
    for (let left = 29; left >= 0; left -= 1) {
      const answer = await send();
      expect(await answer.text()).not.toContain('RATE_LIMIT_EXCEEDED');
      expect(Number(answer.headers.get('x-ratelimit-remaining'))).toBe(left);
    }
    expect(await (await send()).text()).toContain('RATE_LIMIT_EXCEEDED');
  });
});

describe('the cache of documents', () => {
  const MIB = 1024 * 1024;
  const valid = (index: number) => `{ a${index}: viewer { ${'account { id } '.repeat(50)} } }`;

  test('contains no invalid documents, and none of callers without a valid key', () => {
    const documents = createDocuments(schema);
    for (const index of times(20, Number)) {
      documents.read(`{ ${times(20, (i) => `no${index}x${i}`).join(' ')} }`, { keep: true });
      documents.read(`{ a${index}: __typename }`, { keep: false });
    }
    expect(documents.cachedBytes()).toBe(0);
    expect(documents.find('{ a0: __typename }')).toBeUndefined();
  });

  test('has at most 16 MiB, estimated from the number of tokens', () => {
    const documents = createDocuments(schema);
    for (const index of times(200, Number)) documents.read(valid(index), { keep: true });
    expect(documents.cachedBytes()).toBeGreaterThan(15 * MIB);
    expect(documents.cachedBytes()).toBeLessThanOrEqual(16 * MIB);
    expect(documents.find(valid(199))).toBeDefined();
    expect(documents.find(valid(0))).toBeUndefined();
  });

  test('contains no document over 1 MiB', () => {
    const documents = createDocuments(schema);
    const long = `{ node(id: "${'x'.repeat(MIB)}") { id } }`;
    expect(documents.read(long, { keep: true }).errors).toBeUndefined();
    expect(documents.cachedBytes()).toBe(0);
  });
});
