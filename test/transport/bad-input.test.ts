import { connect } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
const ids: Record<string, string> = {};
const keys: Record<string, string> = {};

beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  ids.bot = await tenant.bot();
  ids.undeployed = await tenant.bot(null);
  ids.foreign = await (await app.tenant()).bot();
  keys.good = tenant.apiKey;
  keys.restricted = await tenant.key({ botIds: [ids.undeployed] });
  keys.none = await tenant.key({ botIds: [] });
  keys.reader = await tenant.key({ scopes: ['RUNS', 'ADMIN', 'DEPLOY'] });
  keys.expired = await tenant.key({ expiresAt: new Date(0) });
  keys.revoked = await tenant.key({ revokedAt: new Date() });
  keys.unknown = makeApiKey();
  keys.mistyped = tenant.apiKey.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x'));
});

type Row = {
  what: string;
  method?: string;
  path?: string;
  /** A name in `keys`, a whole header, or none. */
  key?: string | null;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
  status: number;
  code: string;
  /** The paths of all details. */
  details?: string[];
};

const chat = '/v1/bots/{bot}/chat';
const stream = '/v1/bots/{bot}/chat/stream';
const message = '{"message": "Hi"}';
const json = (value: unknown) => JSON.stringify(value);
const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

const rows: Row[] = [
  { what: 'an unknown route', path: '/v1/nothing', status: 404, code: 'not_found' },
  { what: 'no route at all', path: '/nothing', status: 404, code: 'not_found' },
  { what: 'the root', method: 'GET', path: '/', status: 404, code: 'not_found' },
  {
    what: 'an unknown route without a key',
    path: '/v1/x',
    key: null,
    status: 404,
    code: 'not_found',
  },
  { what: 'GET on chat', method: 'GET', path: chat, status: 404, code: 'not_found' },
  { what: 'DELETE on chat', method: 'DELETE', path: chat, status: 404, code: 'not_found' },
  { what: 'a trailing slash', path: `${chat}/`, body: message, status: 404, code: 'not_found' },
  { what: 'a malformed URL', path: '/v1/bots/%E0%A4%A/chat', status: 400, code: 'invalid_request' },

  { what: 'no key', key: null, body: message, status: 401, code: 'missing_api_key' },
  { what: 'no key and a broken body', key: null, body: '{', status: 401, code: 'missing_api_key' },
  {
    what: 'no key and no such bot',
    path: '/v1/bots/none/chat',
    key: null,
    status: 401,
    code: 'missing_api_key',
  },
  {
    what: 'another scheme',
    key: 'Basic dXNlcjpwYXNz',
    body: message,
    status: 401,
    code: 'missing_api_key',
  },
  { what: 'an empty token', key: 'Bearer', body: message, status: 401, code: 'missing_api_key' },
  {
    what: 'a key without its scheme',
    key: makeApiKey(),
    body: message,
    status: 401,
    code: 'missing_api_key',
  },
  {
    what: 'a key of another kind',
    key: 'Bearer sk-123',
    body: message,
    status: 401,
    code: 'invalid_api_key',
  },
  { what: 'a mistyped key', key: 'mistyped', body: message, status: 401, code: 'invalid_api_key' },
  {
    what: 'a key that nobody issued',
    key: 'unknown',
    body: message,
    status: 401,
    code: 'invalid_api_key',
  },
  { what: 'an expired key', key: 'expired', body: message, status: 401, code: 'invalid_api_key' },
  { what: 'a revoked key', key: 'revoked', body: message, status: 401, code: 'invalid_api_key' },

  {
    what: 'no such bot',
    path: '/v1/bots/none/chat',
    body: message,
    status: 404,
    code: 'bot_not_found',
  },
  {
    what: 'no such bot and a broken body',
    path: '/v1/bots/none/chat',
    body: '{',
    status: 404,
    code: 'bot_not_found',
  },
  {
    what: 'a bot id that is none',
    path: '/v1/bots/a%20b%00/chat',
    body: message,
    status: 404,
    code: 'bot_not_found',
  },
  {
    what: 'a bot id of a thousand letters',
    path: `/v1/bots/${'x'.repeat(1_000)}/chat`,
    body: message,
    status: 404,
    code: 'bot_not_found',
  },
  {
    what: "another account's bot",
    path: '/v1/bots/{foreign}/chat',
    body: message,
    status: 403,
    code: 'bot_access_denied',
  },
  {
    what: "another account's bot and a broken body",
    path: '/v1/bots/{foreign}/chat',
    body: '{',
    status: 403,
    code: 'bot_access_denied',
  },
  {
    what: 'a key for another bot',
    key: 'restricted',
    body: message,
    status: 403,
    code: 'bot_access_denied',
  },
  { what: 'a key for no bot', key: 'none', body: message, status: 403, code: 'bot_access_denied' },
  {
    what: 'a key that may not chat',
    key: 'reader',
    body: message,
    status: 403,
    code: 'insufficient_scope',
  },
  {
    what: 'a bot without a deployment',
    path: '/v1/bots/{undeployed}/chat',
    body: message,
    status: 400,
    code: 'bot_not_deployed',
  },
  {
    what: 'staging where there is none',
    body: json({ message: 'Hi', environment: 'staging' }),
    status: 400,
    code: 'bot_not_deployed',
  },

  { what: 'no body', status: 400, code: 'invalid_json' },
  {
    what: 'no body and no content type',
    headers: { 'content-type': '' },
    status: 400,
    code: 'invalid_request',
  },
  { what: 'an empty body', body: '', status: 400, code: 'invalid_json' },
  { what: 'half a body', body: '{"message": ', status: 400, code: 'invalid_json' },
  { what: 'text after the body', body: `${message}x`, status: 400, code: 'invalid_json' },
  {
    what: 'a body that is not UTF-8',
    body: new Uint8Array([0x22, 0xff, 0xfe, 0x22]),
    status: 400,
    code: 'invalid_json',
  },
  {
    what: 'a poisoned prototype',
    body: '{"message": "Hi", "__proto__": {"a": 1}}',
    status: 400,
    code: 'invalid_json',
  },
  {
    what: 'a body of another type',
    headers: { 'content-type': 'text/plain' },
    body: message,
    status: 400,
    code: 'invalid_request',
  },
  {
    what: 'a form',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'message=Hi',
    status: 400,
    code: 'invalid_request',
  },
  {
    what: 'a nonsense content type',
    headers: { 'content-type': 'nonsense' },
    body: message,
    status: 400,
    code: 'invalid_request',
  },
  {
    what: 'a body over 1 MiB',
    body: json({ message: 'x'.repeat(1024 * 1024) }),
    status: 400,
    code: 'request_too_large',
  },

  { what: 'an array', body: '[]', status: 400, code: 'invalid_request', details: [''] },
  { what: 'null', body: 'null', status: 400, code: 'invalid_request', details: [''] },
  { what: 'a text', body: '"Hi"', status: 400, code: 'invalid_request', details: [''] },
  { what: 'no message', body: '{}', status: 400, code: 'invalid_request', details: ['message'] },
  {
    what: 'a message that is null',
    body: '{"message": null}',
    status: 400,
    code: 'invalid_request',
    details: ['message'],
  },
  {
    what: 'a message that is a number',
    body: '{"message": 1}',
    status: 400,
    code: 'invalid_request',
    details: ['message'],
  },
  {
    what: 'an empty message',
    body: '{"message": ""}',
    status: 400,
    code: 'invalid_request',
    details: ['message'],
  },
  {
    what: 'U+0000 in the message',
    body: '{"message": "\\u0000"}',
    status: 400,
    code: 'invalid_request',
    details: ['message'],
  },
  {
    what: 'half a surrogate pair',
    body: '{"message": "\\ud800"}',
    status: 400,
    code: 'invalid_request',
    details: ['message'],
  },
  {
    what: 'a context that is a text',
    body: json({ message: 'Hi', context: 'x' }),
    status: 400,
    code: 'invalid_request',
    details: ['context'],
  },
  {
    what: 'a context that is a list',
    body: json({ message: 'Hi', context: [] }),
    status: 400,
    code: 'invalid_request',
    details: ['context'],
  },
  {
    what: 'a context that is null',
    body: json({ message: 'Hi', context: null }),
    status: 400,
    code: 'invalid_request',
    details: ['context'],
  },
  {
    what: 'U+0000 in the context',
    body: json({ message: 'Hi', context: { a: ['\u0000'] } }),
    status: 400,
    code: 'invalid_request',
    details: ['context'],
  },
  {
    what: 'U+0000 in a key of the context',
    body: json({ message: 'Hi', context: { '\u0000': 1 } }),
    status: 400,
    code: 'invalid_request',
    details: ['context'],
  },
  {
    what: 'a context 40 levels deep',
    body: `{"message": "Hi", "context": ${deep(40)}}`,
    status: 400,
    code: 'invalid_request',
    details: ['context'],
  },
  {
    what: 'a context 100,000 levels deep',
    body: `{"message": "Hi", "context": ${deep(100_000)}}`,
    status: 400,
    code: 'invalid_request',
    details: ['context'],
  },
  {
    what: 'stream that is a text',
    body: json({ message: 'Hi', stream: 'true' }),
    status: 400,
    code: 'invalid_request',
    details: ['stream'],
  },
  {
    what: 'an unknown environment',
    body: json({ message: 'Hi', environment: 'test' }),
    status: 400,
    code: 'invalid_request',
    details: ['environment'],
  },
  {
    what: 'an environment in capitals',
    body: json({ message: 'Hi', environment: 'STAGING' }),
    status: 400,
    code: 'invalid_request',
    details: ['environment'],
  },
  {
    what: 'an unknown X-Environment',
    headers: { 'x-environment': 'test' },
    body: message,
    status: 400,
    code: 'invalid_request',
    details: ['x-environment'],
  },
  {
    what: 'an empty session id',
    headers: { 'x-session-id': '' },
    body: message,
    status: 400,
    code: 'invalid_request',
    details: ['x-session-id'],
  },
  {
    what: 'a session id with a space',
    headers: { 'x-session-id': 'a b' },
    body: message,
    status: 400,
    code: 'invalid_request',
    details: ['x-session-id'],
  },
  {
    what: 'a session id of 257 characters',
    headers: { 'x-session-id': 'x'.repeat(257) },
    body: message,
    status: 400,
    code: 'invalid_request',
    details: ['x-session-id'],
  },
  {
    what: 'everything wrong at once',
    headers: { 'x-session-id': 'a b' },
    body: json({ message: 7, context: 7, stream: 7, environment: 7 }),
    status: 400,
    code: 'invalid_request',
    details: ['x-session-id', 'message', 'context', 'stream', 'environment'],
  },

  {
    what: 'a stream without a message',
    method: 'GET',
    path: stream,
    status: 400,
    code: 'invalid_request',
    details: ['message'],
  },
  {
    what: 'a stream with two messages',
    method: 'GET',
    path: `${stream}?message=a&message=b`,
    status: 400,
    code: 'invalid_request',
    details: ['message'],
  },
  {
    what: 'a stream with an empty session id',
    method: 'GET',
    path: `${stream}?message=a&session_id=`,
    status: 400,
    code: 'invalid_request',
    details: ['session_id'],
  },
  {
    what: 'a stream with U+0000',
    method: 'GET',
    path: `${stream}?message=%00`,
    status: 400,
    code: 'invalid_request',
    details: ['message'],
  },
  {
    what: 'a stream of an undeployed bot',
    method: 'GET',
    path: '/v1/bots/{undeployed}/chat/stream?message=a',
    status: 400,
    code: 'bot_not_deployed',
  },
  {
    what: 'a stream without a key',
    method: 'GET',
    path: `${stream}?message=a`,
    key: null,
    status: 401,
    code: 'missing_api_key',
  },
  { what: 'a posted stream without a body', path: stream, status: 400, code: 'invalid_json' },
  { what: 'HEAD on a stream', method: 'HEAD', path: `${stream}?message=a`, status: 404, code: '' },
];

describe('a bad request gets a documented answer', () => {
  test.each(rows)('$what: $status $code', async (row) => {
    const { method = 'POST', path = chat, key = 'good', headers, body, status, code } = row;
    const url = app.url + path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? '');
    const authorization = key && (key in keys ? `Bearer ${keys[key]}` : key);
    const response = await fetch(url, {
      method,
      headers: {
        ...(method === 'POST' && { 'content-type': 'application/json' }),
        ...(authorization && { authorization }),
        ...headers,
      },
      body: method === 'POST' ? body : undefined,
    });
    expect(response.status).toBe(status);
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    if (method === 'HEAD') return;
    const { error, ...rest } = (await response.json()) as { error: Record<string, unknown> };
    expect(rest).toEqual({});
    expect(error).toEqual({
      code,
      message: expect.stringMatching(/\S/),
      request_id: response.headers.get('x-request-id'),
      ...(row.details && {
        details: row.details.map((path) => ({ path, message: expect.stringMatching(/\S/) })),
      }),
    });
  });
});

describe('what is hardly HTTP', () => {
  const exchange = async (text: string) => {
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    socket.write(text);
    return (await Array.fromAsync<Buffer>(socket)).join('');
  };

  test.each([
    ['no HTTP', 'HELLO\r\n\r\n'],
    ['an unknown method', 'BREW /v1 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['oversized headers', `GET /v1 HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['a nonsense length', 'POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n'],
    [
      'two lengths',
      'POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    ],
  ])('%s is a 400 of the documented form', async (_what, text) => {
    const answer = await exchange(text);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(head).toMatch(/\r\nX-Request-Id: req_/);
    expect(JSON.parse(body)).toEqual({
      error: {
        code: 'invalid_request',
        message: expect.stringMatching(/\S/),
        request_id: /X-Request-Id: (\S+)/.exec(head)?.[1],
      },
    });
  });
});
