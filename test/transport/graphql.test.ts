import { createClient, type ExecutionResult } from 'graphql-sse';
import { createClient as createSocketClient } from 'graphql-ws';
import { beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { testDatabase } from '../helpers/database.ts';
import { readFrames } from '../helpers/readers.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

const post = (path: string, body: string, headers = {}) =>
  fetch(app.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...tenant.headers, ...headers },
    body,
  });

const CHAT =
  'subscription ($id: ID!, $input: ChatInput!) { chat(botId: $id, input: $input) { __typename } }';

/** Runs the same operation over every transport. @returns the last result of each. */
const everyTransport = async (query: string, variables = {}, operationName?: string) => {
  const operation = { query, variables, operationName };
  const headers = { Authorization: tenant.headers.authorization };
  const url = `${app.url}/graphql/stream`;
  const http = (await (
    await post('/graphql', JSON.stringify(operation))
  ).json()) as ExecutionResult;
  const distinct = createClient({ url, headers, retryAttempts: 0 });
  const single = createClient({ url, headers, singleConnection: true, retryAttempts: 0 });
  const socket = createSocketClient({ url: app.webSocketUrl, connectionParams: headers });
  const last = async (results: AsyncIterable<unknown>) => (await Array.fromAsync(results)).at(-1);
  const answers = {
    http,
    distinct: await last(distinct.iterate(operation)),
    single: await last(single.iterate(operation)),
    socket: await last(socket.iterate(operation)).catch((errors) => ({ errors })),
  };
  single.dispose();
  await socket.dispose();
  return answers;
};

describe('GraphQL over every transport', () => {
  test('returns the same data', async () => {
    const { http, ...others } = await everyTransport(
      '{ viewer { account { id } } bots(first: 1) { edges { node { id name } } } }',
    );
    expect(http).toEqual({
      data: {
        viewer: { account: { id: tenant.accountId } },
        bots: { edges: [{ node: { id: bot, name: 'Bot' } }] },
      },
    });
    for (const answer of Object.values(others)) expect(answer).toEqual(http);
  });

  test('returns the same errors', async () => {
    const { http, ...others } = await everyTransport('{ bot(id: "nobody") { id } }');
    expect(http).toEqual({
      data: { bot: null },
      errors: [
        {
          message: 'There is no bot "nobody".',
          locations: [{ line: 1, column: 3 }],
          path: ['bot'],
          extensions: { code: 'BOT_NOT_FOUND' },
        },
      ],
    });
    for (const answer of Object.values(others)) expect(answer).toEqual(http);
  });

  test.each([
    ['a document that does not parse', '{'],
    ['an unknown field', '{ nothing }'],
    ['a missing argument', '{ bot { id } }'],
  ])('refuses %s with a code', async (_what, query) => {
    for (const answer of Object.values(await everyTransport(query))) {
      expect(answer).toMatchObject({
        errors: [{ message: expect.stringMatching(/\S/), extensions: { code: 'INVALID_REQUEST' } }],
      });
    }
  });

  test.each([
    ['an unknown name', 'query Here { __typename }', 'There'],
    ['no name among several', 'query A { __typename } query B { __typename }', undefined],
  ])(
    'refuses an operation name that the document does not have: %s',
    async (_what, query, operationName) => {
      const { http, ...others } = await everyTransport(query, {}, operationName);
      expect(http).toEqual({
        errors: [{ message: expect.any(String), extensions: { code: 'INVALID_REQUEST' } }],
      });
      for (const answer of Object.values(others)) expect(answer).toEqual(http);
    },
  );

  test.each([
    ['a node', '{ node(id: "\\u0000") { id } }'],
    ['a run', '{ run(id: "\\u0000") { id } }'],
    ['a key', 'mutation { revokeApiKey(id: "\\u0000") { id } }'],
    ['a cursor', `{ bots(after: "${btoa('GPC:S:\0')}") { edges { cursor } } }`],
    ['101 ids', `{ nodes(ids: [${'"a", '.repeat(101)}]) { id } }`],
    ['a document of a hundred thousand braces', '{a'.repeat(100_000)],
    [
      'an API key without scopes',
      'mutation { createApiKey(input: { name: "x", scopes: [] }) { secret } }',
    ],
  ])('refuses invalid input: %s', async (_what, query) => {
    const { errors } = await tenant.graphql(query);
    expect(errors?.[0]?.extensions.code).toBe('INVALID_REQUEST');
  });

  test('refuses an invalid subscription before it begins', async () => {
    const { http, ...others } = await everyTransport(CHAT, { id: bot, input: { message: '' } });
    expect(http).toBeDefined();
    for (const answer of Object.values(others)) {
      expect(answer).toMatchObject({ errors: [{ extensions: { code: 'INVALID_REQUEST' } }] });
    }
  });

  test('allows only introspection without a key', async () => {
    const send = async (query: string) =>
      (
        await fetch(`${app.url}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ query }),
        })
      ).json();
    expect(await send('{ __schema { queryType { name } } }')).toEqual({
      data: { __schema: { queryType: { name: 'Query' } } },
    });
    for (const field of [
      'viewer { account { id } }',
      'bots { edges { cursor } }',
      'bot(id: "demo") { id }',
      'run(id: "x") { id }',
      'node(id: "x") { id }',
    ]) {
      expect(await send(`{ ${field} }`)).toMatchObject({
        errors: [{ extensions: { code: 'MISSING_API_KEY' } }],
      });
    }
  });

  test('masks internal errors on every transport', async () => {
    const broken = await startApp({ database: await brokenDatabase() });
    const body = JSON.stringify({ query: '{ bots { edges { cursor } } }' });
    const headers = {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      authorization: `Bearer ${makeApiKey()}`,
    };
    const rest = await fetch(`${broken.url}/v1/bots/x/chat`, { method: 'POST', headers, body });
    expect(rest.status).toBe(500);
    expect(await rest.json()).toMatchObject({ error: { code: 'internal_error' } });
    for (const path of ['/graphql', '/graphql/stream']) {
      const text = await (await fetch(broken.url + path, { method: 'POST', headers, body })).text();
      expect(text).toContain('INTERNAL_ERROR');
      expect(text).not.toContain('canary');
    }
  });
});

/** A database whose key lookup fails with an internal message. */
async function brokenDatabase() {
  const prisma = new Proxy(app.prisma, {
    get: (target, name) => {
      if (name === 'apiKey') throw new Error('canary: SELECT secret');
      return Reflect.get(target, name);
    },
  });
  return { ...(await testDatabase()), prisma };
}

describe('GraphQL over HTTP', () => {
  test.each([
    ['half a body', '{"query": ', 400, 'INVALID_JSON'],
    ['an empty body', '', 400, 'INVALID_JSON'],
    ['a body over 1 MiB', `{"query": "${'x'.repeat(1024 * 1024)}"}`, 400, 'REQUEST_TOO_LARGE'],
    ['a batch', '[{"query": "{ __typename }"}]', 400, undefined],
    ['no query', '{}', 400, undefined],
  ])('refuses %s', async (_what, body, status, code) => {
    const response = await post('/graphql', body);
    expect(response.status).toBe(status);
    const { errors } = (await response.json()) as { errors: { extensions?: { code?: string } }[] };
    expect(errors).toHaveLength(1);
    if (code) expect(errors[0]?.extensions?.code).toBe(code);
  });

  test.each(['variables=zz', 'variables=7', 'extensions=zz'])('refuses %s', async (query) => {
    const response = await fetch(`${app.url}/graphql?query={__typename}&${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      errors: [{ extensions: { code: 'INVALID_REQUEST' } }],
    });
  });

  test('refuses mutations by GET', async () => {
    const query = encodeURIComponent('mutation { deleteBot(id: "x") }');
    const response = await fetch(`${app.url}/graphql?query=${query}`, { headers: tenant.headers });
    expect(response.status).toBe(405);
  });

  test('sends no CORS header', async () => {
    const response = await post('/graphql', '{"query": "{ __typename }"}', {
      origin: 'https://example.com',
    });
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
  });

  test('returns the run’s id in a header', async () => {
    const response = await post(
      '/graphql',
      JSON.stringify({
        query: `mutation { chat(botId: "${bot}", input: { message: "Hi" }) { runId } }`,
      }),
    );
    const { data } = (await response.json()) as { data: { chat: { runId: string } } };
    expect(response.headers.get('x-run-id')).toBe(data.chat.runId);
  });
});

describe('GraphQL over SSE', () => {
  test('requires a key to reserve a connection', async () => {
    const reserve = (headers: Record<string, string>) =>
      fetch(`${app.url}/graphql/stream`, { method: 'PUT', headers });
    expect((await reserve({})).status).toBe(401);
    const granted = await reserve(tenant.headers);
    expect(granted.status).toBe(201);
    expect(await granted.text()).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('reserves at most 100 unopened connections for an account', async () => {
    const { headers } = await app.tenant();
    const url = `${app.url}/graphql/stream`;
    const reserve = () => fetch(url, { method: 'PUT', headers });
    const granted = await Promise.all(Array.from({ length: 100 }, reserve));
    const [token] = await Promise.all(granted.map((response) => response.text()));
    const refused = await reserve();
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({
      errors: [{ extensions: { code: 'RATE_LIMIT_EXCEEDED' } }],
    });
    const reader = new AbortController();
    const { signal } = reader;
    const accept = 'text/event-stream';
    await fetch(`${url}?token=${token}`, { headers: { ...headers, accept }, signal });
    expect((await reserve()).status).toBe(201);
    reader.abort();
  });

  test('reserves connections for one page regardless of the connections of another page', async () => {
    const { graphql, bot } = await app.tenant();
    const botId = await bot();
    const reserveAs = async (sessionId: string) => {
      const { data } = await graphql(
        'mutation ($input: CreateSessionTokenInput!) { createSessionToken(input: $input) { token } }',
        { input: { botId, sessionId } },
      );
      const headers = { authorization: `Bearer ${data.createSessionToken.token}` };
      return async () =>
        (await fetch(`${app.url}/graphql/stream`, { method: 'PUT', headers })).status;
    };
    const greedy = await reserveAs('user-1');
    const granted = await Promise.all(Array.from({ length: 100 }, greedy));
    expect(new Set(granted)).toEqual(new Set([201]));
    expect(await greedy()).toBe(429);
    // Another token of the same session belongs to the same page.
    expect(await (await reserveAs('user-1'))()).toBe(429);
    expect(await (await reserveAs('user-2'))()).toBe(201);
  });

  test('refuses a second reader of a reserved connection, and the first continues', async () => {
    const url = `${app.url}/graphql/stream`;
    const reserved = await fetch(url, { method: 'PUT', headers: tenant.headers });
    const headers = {
      ...tenant.headers,
      'content-type': 'application/json',
      'x-graphql-event-stream-token': await reserved.text(),
    };
    const read = () => fetch(url, { headers: { ...headers, accept: 'text/event-stream' } });
    const first = await read();
    const query = `subscription { chat(botId: "${bot}", input: { message: "Hi" }) { __typename } }`;
    const body = JSON.stringify({ query, extensions: { operationId: 'one' } });
    const finish = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end }) => {
      say('Hello');
      await finish.promise;
      end();
    });
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(202);
    const second = await read();
    expect(second.status).toBe(409);
    await second.text();
    finish.resolve();
    let text = '';
    for await (const chunk of first.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes('event: complete')) break;
    }
    expect(text).toContain('ChatDone');
  });

  test('releases the id of a refused operation on a reserved connection', async () => {
    const url = `${app.url}/graphql/stream`;
    const reserved = await fetch(url, { method: 'PUT', headers: tenant.headers });
    const token = await reserved.text();
    const reader = new AbortController();
    const stream = await fetch(`${url}?token=${token}`, {
      headers: { ...tenant.headers, accept: 'text/event-stream' },
      signal: reader.signal,
    });
    const frames = readFrames(stream);
    const query = 'query Here { viewer { __typename } }';
    const extensions = { operationId: 'one' };
    const byPost = (operationName: string) =>
      post(`/graphql/stream?token=${token}`, JSON.stringify({ query, operationName, extensions }));
    const byGet = (operationName: string) => {
      const parameters = { token, query, operationName, extensions: JSON.stringify(extensions) };
      const { headers } = tenant;
      return fetch(`${url}?${new URLSearchParams(parameters)}`, { headers });
    };
    const send = async (operationName: string, by = byPost) => {
      expect((await by(operationName)).status).toBe(202);
      const { value } = await frames.next();
      expect((await frames.next()).value).toEqual({ id: 'one' });
      return value?.payload;
    };
    expect(await send('There')).toMatchObject({ errors: [{}] });
    expect(await send('Here')).toMatchObject({ data: { viewer: {} } });
    expect(await send('There', byGet)).toMatchObject({ errors: [{}] });
    expect(await send('Here', byGet)).toMatchObject({ data: { viewer: {} } });
    reader.abort();
  });

  test.each([
    'null',
    'false',
    '0',
    '""',
    '[]',
    '{"extensions": {"operationId": {"toString": 1}}}',
    '{"extensions": {"operationId": "__proto__"}}',
  ])('refuses the body %s at once', async (body) => {
    const response = await post('/graphql/stream', body, { accept: 'text/event-stream' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      errors: [{ extensions: { code: 'INVALID_REQUEST' } }],
    });
  });

  test.each(['constructor', '__proto__', 'undefined'])(
    'refuses the token %s, which it did not issue',
    async (token) => {
      const response = await fetch(`${app.url}/graphql/stream?token=${token}`, {
        headers: { ...tenant.headers, accept: 'text/event-stream' },
      });
      expect(response.status).toBe(400);
    },
  );
});

describe('GraphQL over WebSocket', () => {
  const closeCode = (parameters: unknown, headers = {}) =>
    new Promise<number>((resolve) => {
      const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws', { headers });
      socket.on('open', () =>
        socket.send(JSON.stringify({ type: 'connection_init', payload: parameters })),
      );
      socket.on('message', () => socket.close(1000));
      socket.on('close', resolve);
    });

  test('accepts the key in connection_init or in the header', async () => {
    expect(await closeCode({ Authorization: `Bearer ${tenant.apiKey}` })).toBe(1000);
    expect(await closeCode(undefined, tenant.headers)).toBe(1000);
  });

  test('closes with 4401 without a key, and with 4403 with an invalid one', async () => {
    expect(await closeCode(undefined)).toBe(4401);
    expect(await closeCode({ Authorization: 'Basic x' })).toBe(4401);
    expect(await closeCode({ Authorization: { toString: 1 } })).toBe(4401);
    expect(await closeCode({ Authorization: `Bearer ${makeApiKey()}` })).toBe(4403);
    expect(
      await closeCode({ Authorization: `Bearer ${await tenant.key({ revokedAt: new Date() })}` }),
    ).toBe(4403);
  });

  test.each([
    '{"type": "complete"',
    'null "complete"',
    '{"type": "complete", "id": 7}',
    '"complete"',
  ])('survives the message %s', async (message) => {
    const code = await new Promise((resolve) => {
      const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws', {
        headers: tenant.headers,
      });
      socket.on('open', () => socket.send('{"type": "connection_init"}'));
      socket.once('message', () => {
        socket.send(
          JSON.stringify({ id: '1', type: 'subscribe', payload: { query: '{ __typename }' } }),
        );
        socket.once('message', () => socket.send(message));
      });
      socket.on('close', resolve);
    });
    expect(code).toBe(4400);
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
  });

  test('closes the socket on a message over 1 MiB', async () => {
    const code = await new Promise((resolve) => {
      const { headers } = tenant;
      const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws', { headers });
      socket.on('open', () => socket.send('{"type": "connection_init"}'));
      socket.once('message', () => socket.send('x'.repeat(1024 * 1024 + 1)));
      socket.on('close', resolve);
    });
    expect(code).toBe(1009);
  });

  test('is not available over plain HTTP', async () => {
    const response = await fetch(`${app.url}/graphql/ws`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'not_found' } });
  });
});
