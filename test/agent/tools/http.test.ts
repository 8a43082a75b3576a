import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createHttpTools } from '../../../src/agent/tools/http.ts';
import { ToolError } from '../../../src/agent/tools/tool.ts';
import { createEgress, type Egress } from '../../../src/egress/egress.ts';
import type { Capability, Field, HttpRequest } from '../../../src/language/definition.ts';
import { createRedactor } from '../../../src/redaction/redact.ts';
import { type Site, type SiteHandler, startSite } from '../../helpers/site.ts';
import { callTool } from '../../helpers/tools.ts';

let site: Site;
let egress: Egress;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site.close());
beforeEach(() => {
  egress = createEgress({ allowedHosts: [site.host] });
  site.requests.length = 0;
  site.handle((_request, response) => response.end('{"ok":true}'));
});
afterEach(() => egress.close());

const KEY = 'kéy/with+signs 123';
const variables = {
  ORDERS_KEY: KEY,
  PLAIN_KEY: 'hunter2-hunter2',
  LINES: 'one\r\nx: two',
  PORT: '',
  LONG_KEY: 'k'.repeat(200),
};

const field = (name: string, list = false): Field => ({
  name,
  type: { kind: 'string', list },
  optional: true,
});
const input = [field('order_id'), field('items', true), field('a_b')];

const BODIES = new Set(['POST', 'PUT', 'PATCH']);
const toolFor = (request: Partial<HttpRequest>, more: Partial<Capability> = {}) => {
  const url = [`${site.origin}/orders/`, { path: ['input', 'order_id'] }];
  const [tool] = createHttpTools(
    {
      type: 'http',
      name: 'orders',
      capabilities: [
        {
          name: 'lookup',
          description: 'Find one order',
          input,
          approval: null,
          reads: false,
          repeatable: false,
          request: {
            method: 'GET',
            url,
            headers: [],
            body: request.method && BODIES.has(request.method) ? 'json' : 'none',
            query: [],
            timeout: 10_000,
            ...request,
          },
          ...more,
        },
      ],
    },
    { egress, variables, redactor: createRedactor(variables) },
  );
  if (!tool) throw new Error('There is no tool.');
  return tool;
};

const context = () => ({
  signal: new AbortController().signal,
  values: { context: { plan: 'pro' }, memory: {}, session: { id: 'user 1' }, now: '2026-01-01' },
});
const call = (request: Partial<HttpRequest>, given: unknown = {}) =>
  callTool(toolFor(request), given, context());
const problem = async (request: Partial<HttpRequest>, given: unknown = {}): Promise<string> => {
  const error = await call(request, given).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ToolError);
  return error.message;
};

describe('an HTTP tool', () => {
  test('is offered to the model with the name of its group and its own', () => {
    expect(toolFor({})).toMatchObject({
      name: 'orders.lookup',
      description: 'Find one order',
      inputSchema: { type: 'object', additionalProperties: false },
    });
  });

  test.each(['GET', 'DELETE'] as const)(
    'sends input outside the URL’s path in the query with %s',
    async (method) => {
      const url = [`${site.origin}/orders/`, { path: ['input', 'order_id'] }, '?flag&q=%20#top'];
      const given = { order_id: 'A/1?', items: ['a b', 'c&d'], a_b: 'ü' };
      expect(await call({ method, url }, given)).toBe('{"ok":true}');
      const [request] = site.requests;
      expect(request).toMatchObject({
        method,
        url: '/orders/A%2F1%3F?flag&q=%20&items=a+b&items=c%26d&a_b=%C3%BC',
        body: '',
      });
      expect(request?.headers['content-type']).toBeUndefined();
    },
  );

  test.each(['POST', 'PUT', 'PATCH'] as const)(
    'sends the input as JSON with %s',
    async (method) => {
      const given = { order_id: 'A-1', items: ['a', 'b'] };
      await call({ method }, given);
      const [request] = site.requests;
      expect(request).toMatchObject({ method, url: '/orders/A-1', body: JSON.stringify(given) });
      expect(request?.headers['content-type']).toBe('application/json');
    },
  );

  test('inserts values of the run and variables into the URL and headers', async () => {
    const headers = [
      { name: 'Authorization', value: ['Bearer ', { path: ['env', 'PLAIN_KEY'] }] },
      { name: 'X-Plan', value: [{ path: ['context', 'plan'] }] },
      { name: 'X-Name', value: [{ path: ['memory', 'name'], default: 'nobody' }] },
      { name: 'X-None', value: [{ path: ['context', 'none'] }] },
      { name: 'Content-Type', value: ['application/merge-patch+json'] },
    ];
    const url = [`${site.origin}/`, { path: ['session', 'id'] }, '/', { path: ['env', 'NONE'] }];
    await call({ method: 'PATCH', url, headers });
    expect(site.requests[0]?.url).toBe('/user%201/');
    expect(site.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer hunter2-hunter2',
      'x-plan': 'pro',
      'x-name': 'nobody',
      'x-none': '',
      'content-type': 'application/merge-patch+json',
    });
  });

  test('validates the input before the request, and reports every problem', async () => {
    expect(await problem({}, { order_id: 1, items: 'a' })).toBe(
      'The input is not valid. order_id: must be a string; items: must be a list',
    );
    expect(await problem({}, { [variables.PLAIN_KEY]: 1 })).toBe(
      'The input is not valid. Unrecognized key: "[env.PLAIN_KEY]"',
    );
    expect(site.requests).toEqual([]);
  });

  test('refuses headers with several lines or characters outside Latin-1', async () => {
    const header = (path: string[]) => ({ headers: [{ name: 'X-Note', value: [{ path }] }] });
    const MESSAGE = 'The value of the header "X-Note" must be a single line of Latin-1 characters.';
    expect(await problem(header(['env', 'LINES']))).toBe(MESSAGE);
    expect(await problem(header(['input', 'a_b']), { a_b: 'a\nb: c' })).toBe(MESSAGE);
    expect(await problem(header(['input', 'a_b']), { a_b: '数' })).toBe(MESSAGE);
    expect(site.requests).toEqual([]);
  });

  test('requires a valid URL', async () => {
    const lack = 'The request URL is not valid.';
    const host = { path: ['env', 'HOST'] };
    expect(await problem({ url: ['https://', host, '/a'] })).toBe(
      `${lack} It has no value for env.HOST.`,
    );
    expect(await problem({ url: ['https://', { path: ['env', 'PORT'] }, '/a'] })).toBe(lack);
    expect(await problem({ url: ['https://a:b/'] })).toBe(lack);
  });
});

describe('the result of an HTTP tool', () => {
  const answer =
    (status: number, body: string): SiteHandler =>
    (_request, response) =>
      response.writeHead(status).end(body);

  test('is the response body', async () => {
    site.handle(answer(200, ' {"a": "é",\n"b": 1} '));
    expect(await call({})).toBe(' {"a": "é",\n"b": 1} ');
    site.handle(answer(204, ''));
    expect(await call({})).toBe('');
  });

  test('is truncated at 64 KiB, with a note', async () => {
    site.handle(answer(200, 'é'.repeat(512 * 1024)));
    const text = await call({});
    expect(text).toMatch(/^é+\n\[The answer was longer and is cut here\.\]$/);
    expect(Buffer.byteLength(text)).toBeGreaterThan(64 * 1024 - 3);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(64 * 1024);
  });

  test('is truncated at 64 KiB after invalid bytes were replaced', async () => {
    site.handle((_request, response) => response.end(Buffer.alloc(60_000, 0xff)));
    const text = await call({});
    expect(text).toMatch(/^\uFFFD+\n\[The answer was longer and is cut here\.\]$/);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(64 * 1024);
  });

  test('is an error from status 400 on, with up to 2 KiB of the body', async () => {
    site.handle(answer(404, 'No such order.'));
    expect(await problem({})).toBe('HTTP 404: No such order.');
    site.handle(answer(400, ''));
    expect(await problem({})).toBe('HTTP 400');
    site.handle(answer(500, 'é'.repeat(512 * 1024)));
    expect(await problem({})).toBe(`HTTP 500: ${'é'.repeat(1024)}`);
  });

  test.each([
    ['plain', KEY, '[env.ORDERS_KEY]'],
    ['percent-encoded', encodeURIComponent(KEY), '[env.ORDERS_KEY]'],
    ['in base64', Buffer.from(KEY).toString('base64'), '[env.ORDERS_KEY]'],
    ['after a name in base64', Buffer.from(`me:${KEY}`).toString('base64'), '[env.ORDERS_KEY]'],
  ])('contains no value of a variable, %s', async (_what, form, name) => {
    for (const status of [200, 403]) {
      site.handle(answer(status, `You sent ${form} to us.`));
      const text = status === 200 ? await call({}) : await problem({});
      expect(text).toContain(name);
      expect(text).not.toContain(form.slice(4, -4));
    }
  });

  test('contains no part of a value where it is truncated', async () => {
    site.handle(answer(200, 'a'.repeat(64 * 1024 - 150) + variables.LONG_KEY));
    expect(await call({})).toMatch(/^a+\n\[The answer was longer and is cut here\.\]$/);
    site.handle(answer(500, 'a'.repeat(2 * 1024 - 8) + variables.PLAIN_KEY));
    expect(await problem({})).toMatch(/^HTTP 500: a+\[env\.PLA$/);
  });
});

describe('the limits of a request', () => {
  const url = (...more: string[]) => [`${site.origin}/`, ...more];
  const long = { values: { context: { text: 'x'.repeat(100_000) } } };
  const callLong = (request: Partial<HttpRequest>) =>
    callTool(toolFor(request), {}, { ...context(), ...long }).catch((error) => error.message);
  const place = { path: ['context', 'text'] };

  test('refuse a URL over 16,384 characters with its values', async () => {
    expect(await callLong({ url: [`${site.origin}/`, place] })).toBe(
      'The URL is longer than 16384 characters with its values in place.',
    );
    expect(await problem({ url: url('x'.repeat(16_384)) })).toMatch(/^The URL is longer/);
  });

  test('refuse a URL over 16,384 characters with its query', async () => {
    const given = { a_b: 'é'.repeat(2_800) };
    expect(await problem({ url: url() }, given)).toBe(
      'The URL with its query is longer than 16384 characters.',
    );
    expect(await call({ url: url() }, { a_b: 'é'.repeat(2_700) })).toBe('{"ok":true}');
  });

  test('refuse headers over 65,536 characters', async () => {
    const headers = (count: number, length: number) =>
      Array.from({ length: count }, (_, index) => ({
        name: `X-${index}`,
        value: ['x'.repeat(length)],
      }));
    expect(await problem({ url: url(), headers: headers(9, 8_000) })).toBe(
      'The headers are longer than 65536 characters with their values in place.',
    );
    expect(await callLong({ url: url(), headers: [{ name: 'X-A', value: [place] }] })).toMatch(
      /^The headers are longer than 65536 characters/,
    );
    site.requests.length = 0;
    expect(await call({ url: url(), headers: headers(4, 2_000) })).toBe('{"ok":true}');
    expect(site.requests[0]?.headers['x-3']).toHaveLength(2_000);
  });

  test('refuse a body over 256 KiB', async () => {
    const request = { method: 'POST', url: url() } as const;
    const given = (length: number) => ({ a_b: 'x'.repeat(length - '{"a_b":""}'.length) });
    expect(await call(request, given(262_144))).toBe('{"ok":true}');
    expect(await problem(request, given(262_145))).toBe('The body is larger than 262144 bytes.');
  });
});

describe('an HTTP tool without a response', () => {
  test('reports the reason to the model, without the address', async () => {
    expect(await problem({ url: ['http://127.0.0.1:1/'] })).toBe(
      'Private and local addresses cannot be called, unless the operator lists host:port in PARLEY_ALLOWED_HOSTS.',
    );
    site.handle((_request, response) => response.destroy());
    expect(await problem({})).toBe("The server's response is incomplete or invalid.");
    site.handle(() => {});
    expect(await problem({ timeout: 50 })).toBe('The server did not answer in time.');
  });

  test('rejects with the abort reason once the run has ended', async () => {
    const controller = new AbortController();
    const reason = new Error('The run ended.');
    site.handle(() => controller.abort(reason));
    const { values } = context();
    const pending = callTool(toolFor({}), {}, { signal: controller.signal, values });
    await expect(pending).rejects.toBe(reason);
  });
});
