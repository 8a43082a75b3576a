import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeId } from '../../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { connectOlder } from '../../helpers/mcp-clients.ts';
import { hello } from '../../helpers/upstream.ts';

const ALLOWED = 'https://app.example';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp({ allowedOrigins: [ALLOWED] });
});
beforeEach(async () => {
  app.upstream.script(hello);
  tenant = await app.tenant();
  bot = await tenant.bot();
});

/** Makes bots with copies of the bot's deployment. @returns their ids. */
async function makeCopies(count: number): Promise<string[]> {
  const { id: _id, ...deployment } = await app.prisma.deployment.findFirstOrThrow({
    where: { botId: bot },
    select: { id: true, environment: true, status: true, source: true },
  });
  const bots = Array.from({ length: count }, () => ({ id: makeId('bot'), name: 'Copy' }));
  const { accountId } = tenant;
  await app.prisma.bot.createMany({ data: bots.map((one) => ({ ...one, accountId })) });
  const copies = bots.map(({ id: botId }) => ({ ...deployment, id: makeId('dep'), botId }));
  await app.prisma.deployment.createMany({ data: copies });
  await app.prisma.activeDeployment.createMany({
    data: copies.map(({ id: deploymentId, botId, environment }) => ({
      deploymentId,
      botId,
      environment,
    })),
  });
  return bots.map(({ id }) => id);
}

const message = (method: string, params?: object, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params && { params }),
});

/** A message of the version 2026-07-28, which names its version and its client. */
const modern = (method: string, params: object = {}) =>
  message(method, {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  });

const post = (body: unknown, headers: Record<string, string> = {}, query = '') =>
  fetch(`${app.url}/mcp${query}`, {
    method: 'POST',
    headers: {
      ...tenant.headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const postModern = (method: string, params: object = {}) => {
  const { name, uri } = params as { name?: string; uri?: string };
  return post(modern(method, params), {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    'mcp-name': name ?? uri ?? '',
  });
};

/** The message in the body of a response: JSON, or the last event of a stream. */
async function read(response: Response) {
  const text = await response.text();
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    return JSON.parse(text);
  return JSON.parse(text.trimEnd().split('data: ').at(-1) ?? '');
}

describe('a request', () => {
  test('of the version 2025-06-18 is answered in that version', async () => {
    const initialize = message('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    });
    const begun = await post(initialize);
    expect(begun.headers.get('mcp-session-id')).toMatch(/^[\w-]{36}$/);
    expect((await read(begun)).result).toMatchObject({
      protocolVersion: '2025-06-18',
      capabilities: { tools: {}, resources: {} },
      serverInfo: { name: 'parley' },
    });
    const called = await post(message('tools/call', { name: bot, arguments: { message: 'Hi' } }), {
      'mcp-protocol-version': '2025-06-18',
    });
    expect((await read(called)).result.structuredContent.response).toBe('Hello there.');
  });

  test('of the version 2026-07-28 needs no handshake', async () => {
    const called = await postModern('tools/call', { name: bot, arguments: { message: 'Hi' } });
    expect(called.headers.get('content-type')).toMatch('application/json');
    expect(called.headers.get('mcp-session-id')).toBeNull();
    expect(called.headers.get('x-run-id')).toMatch(/^run_/);
    expect((await read(called)).result.structuredContent.response).toBe('Hello there.');
  });

  test('lists at most 100 tools, and the others on the next page', async () => {
    const ids = await makeCopies(100);
    const first = (await read(await postModern('tools/list'))).result;
    expect(first.tools).toHaveLength(100);
    const { nextCursor: cursor } = first;
    const second = (await read(await postModern('tools/list', { cursor }))).result;
    expect(second.nextCursor).toBeUndefined();
    const names = [...first.tools, ...second.tools].map(({ name }) => name);
    expect(names.sort()).toEqual([bot, ...ids].sort());
  });

  test('counts once against the limits', async () => {
    const limited = await app.tenant({ requestsPerMinute: 3 });
    const own = await limited.bot();
    const send = () =>
      post(message('tools/call', { name: own, arguments: { message: 'Hi' } }), limited.headers);
    const remaining: unknown[] = [];
    for (let sent = 0; sent < 3; sent += 1) {
      const response = await send();
      await read(response);
      remaining.push(response.headers.get('x-ratelimit-remaining'));
    }
    expect(remaining).toEqual(['2', '1', '0']);
    const refused = await send();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await read(refused)).error.data).toMatchObject({ code: 'rate_limit_exceeded' });
  });

  test('that cancels a call of another session cancels nothing', async () => {
    const proceed = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end }) => {
      say('Hi');
      await proceed.promise;
      end();
    });
    const call = { name: bot, arguments: { message: 'Hi' }, _meta: { progressToken: 1 } };
    const called = await post(message('tools/call', call, 7), { 'mcp-session-id': 'a' });
    const cancelled = await post(
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } },
      { 'mcp-session-id': 'b' },
    );
    expect(cancelled.status).toBe(202);
    proceed.resolve();
    expect((await read(called)).result.structuredContent.response).toBe('Hi');
  });

  test('of a client that leaves cancels the run', async () => {
    const gone = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, closed }) => {
      say('Hi');
      await closed;
      gone.resolve();
    });
    const leave = new AbortController();
    const call = { name: bot, arguments: { message: 'Hi' }, _meta: { progressToken: 1 } };
    const response = await fetch(`${app.url}/mcp`, {
      method: 'POST',
      headers: {
        ...tenant.headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(message('tools/call', call)),
      signal: leave.signal,
    });
    await response.body?.getReader().read();
    leave.abort();
    await gone.promise;
    await expect
      .poll(async () => (await app.prisma.run.findFirst({ where: { botId: bot } }))?.status)
      .toBe('CANCELLED');
  });
});

describe('a page', () => {
  test.each([
    ['of an allowed origin', () => ALLOWED],
    ['of this server', () => app.url],
  ])('%s may connect', async (_which, origin) => {
    const response = await post(message('tools/list'), { origin: origin() });
    expect(response.status).toBe(200);
    expect((await read(response)).result.tools).toHaveLength(1);
  });

  test.each([
    ['http', 'evil.example', 403],
    ['http', 'evil.example:4000', 403],
    ['http', 'localhost.evil.example', 403],
    ['http', 'localhost:4000', 200],
    ['http', '127.0.0.1:4000', 200],
    ['http', '[::1]:4000', 200],
  ])(
    'of the host of its request %s://%s gets %i, because a name may be rebound',
    async (scheme, host, status) => {
      const headers = {
        ...tenant.headers,
        host,
        origin: `${scheme}://${host}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      };
      const payload = JSON.stringify(message('tools/list'));
      const answer = await app.inject({ method: 'POST', url: '/mcp', headers, payload });
      expect(answer.statusCode).toBe(status);
    },
  );

  test('of an allowed origin may send the headers of the protocol', async () => {
    const preflight = await fetch(`${app.url}/mcp`, {
      method: 'OPTIONS',
      headers: { origin: ALLOWED, 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(ALLOWED);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Mcp-Session-Id');
  });
});

describe('a refused request', () => {
  const call = () => message('tools/call', { name: bot, arguments: { message: 'Hi' } });

  test.each<[string, () => Promise<Response>, number, object]>([
    [
      'without a key',
      () => post(call(), { authorization: '' }),
      401,
      { code: -32000, data: { code: 'missing_api_key' } },
    ],
    [
      'with a wrong key',
      () => post(call(), { authorization: 'Bearer wrong' }),
      401,
      { code: -32000, data: { code: 'invalid_api_key' } },
    ],
    [
      'with a key without the scope CHAT',
      async () =>
        post(call(), { authorization: `Bearer ${await tenant.key({ scopes: ['RUNS'] })}` }),
      403,
      { code: -32000, data: { code: 'insufficient_scope' } },
    ],
    [
      'of a page of another origin',
      () => post(call(), { origin: 'https://evil.example' }),
      403,
      { message: expect.stringContaining('PARLEY_ALLOWED_ORIGINS') },
    ],
    [
      'of a page without an origin',
      () => post(call(), { origin: 'null' }),
      403,
      { message: expect.stringContaining('PARLEY_ALLOWED_ORIGINS') },
    ],
    ['that is not JSON', () => post('{"jsonrpc"'), 400, { code: -32700 }],
    ['that is no message', () => post({ hello: 1 }), 400, { code: -32600 }],
    ['that is a text', () => post('"Hi"'), 400, { code: -32600 }],
    [
      'with several messages',
      () => post([call(), call()]),
      400,
      { code: -32600, message: expect.stringContaining('one message') },
    ],
    [
      'in another format',
      () => post('message=Hi', { 'content-type': 'application/x-www-form-urlencoded' }),
      400,
      { code: -32600, message: expect.stringContaining('application/json') },
    ],
    [
      'of more than 1 MiB',
      () => post({ ...call(), note: 'x'.repeat(1024 * 1024) }),
      400,
      { data: { code: 'request_too_large' } },
    ],
    [
      'with an unknown parameter',
      () => post(call(), {}, '?bot=a'),
      400,
      { message: 'unknown bot; the parameters are bots' },
    ],
    [
      'with more than 100 bots in its address',
      () => post(call(), {}, `?bots=${Array.from({ length: 101 }, (_, at) => `b${at}`).join()}`),
      400,
      { message: expect.stringContaining('must not have more than 100 bots') },
    ],
    [
      'with a wrong id in its address',
      () => post(call(), {}, '?bots=a,b%20c'),
      400,
      { data: { details: [{ path: 'bots.1', message: expect.any(String) }] } },
    ],
    [
      'of an unknown version with sessions',
      () => post(call(), { 'mcp-protocol-version': '1999-01-01' }),
      400,
      { message: expect.stringMatching(/protocol version/i) },
    ],
    [
      'that names another method than its headers',
      () =>
        post(modern('tools/list'), {
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
        }),
      400,
      { message: expect.stringMatching(/header/i) },
    ],
    [
      'for a stream of changes',
      () => postModern('subscriptions/listen', { notifications: { toolsListChanged: true } }),
      400,
      { message: expect.stringContaining('subscriptions/listen') },
    ],
  ])('%s has its status and its sentence', async (_what, send, status, error) => {
    const response = await send();
    expect(response.status).toBe(status);
    expect(await read(response)).toMatchObject({ jsonrpc: '2.0', error });
    expect(response.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
    expect(await app.prisma.run.count({ where: { botId: bot } })).toBe(0);
  });

  test.each<[string, string, object, object]>([
    [
      'an unknown tool',
      'tools/call',
      { name: 'x'.repeat(1_000), arguments: {} },
      { code: -32602, message: expect.stringMatching(/^Unknown tool: "x{64}"/) },
    ],
    ['a tool without a name', 'tools/call', { arguments: {} }, { code: -32602 }],
    [
      'a wrong cursor',
      'tools/list',
      { cursor: 'wrong' },
      { code: -32602, data: { code: 'invalid_request' } },
    ],
    ['an unknown method', 'prompts/list', {}, { code: -32601 }],
    [
      'a resource of another kind',
      'resources/read',
      { uri: 'file:///etc/passwd' },
      { code: -32602 },
    ],
  ])('%s is an error of the protocol', async (_what, method, params, error) => {
    expect(await read(await post(message(method, params)))).toMatchObject({ id: 1, error });
    expect(await read(await postModern(method, params))).toMatchObject({ id: 1, error });
  });

  test('that is a call of a bot without a deployment names an unknown tool', async () => {
    const empty = await tenant.bot(null);
    const sent = message('tools/call', { name: empty, arguments: { message: 'Hi' } });
    expect((await read(await post(sent))).error.message).toMatch('Unknown tool');
  });

  test.each<[string, unknown, unknown]>([
    ['a number', 7, 7],
    ['a short text', 'call-7', 'call-7'],
    ['a text of 64 KiB', 'x'.repeat(65_536), null],
    ['an object', { a: [1] }, null],
    ['a boolean', true, null],
  ])('repeats the id of its message only if it is short: %s', async (_what, id, repeated) => {
    const response = await post(message('tools/list', {}, id), {}, '?bot=a');
    expect(response.status).toBe(400);
    expect((await read(response)).id).toBe(repeated);
  });

  test.each(['GET', 'DELETE'])('with the method %s is not allowed', async (method) => {
    const response = await fetch(`${app.url}/mcp`, { method, headers: tenant.headers });
    expect(response.status).toBe(405);
  });

  test('with a session token has to send a key', async () => {
    const { data } = await tenant.graphql(
      'mutation ($bot: ID!) { createSessionToken(input: { botId: $bot, sessionId: "user-1" }) { token } }',
      { bot },
    );
    const { token } = data.createSessionToken;
    const response = await post(call(), { authorization: `Bearer ${token}` });
    expect(response.status).toBe(401);
    expect((await read(response)).error.message).toMatch('Send an API key');
  });
});

test('a call ends with a result when its key is revoked', async () => {
  const secret = await tenant.key({ scopes: ['CHAT'] });
  const client = await connectOlder(app.url, { headers: { authorization: `Bearer ${secret}` } });
  app.upstream.script(async ({ say, closed }) => {
    say('Hi');
    await closed;
  });
  const revoke = async () => {
    const key = await app.prisma.apiKey.findFirstOrThrow({
      where: { accountId: tenant.accountId, scopes: { equals: ['CHAT'] } },
    });
    await tenant.graphql('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id: key.id });
  };
  const result = await client.call(bot, { message: 'Hi' }, { onprogress: () => void revoke() });
  expect(result).toMatchObject({ isError: true, _meta: { 'parley/code': 'invalid_api_key' } });
});
