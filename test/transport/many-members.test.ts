import { once } from 'node:events';
import { beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

const TOO_MANY = 'must not have more than 10,000 members and entries';
const MOST = 10_000;

/** Objects with a number of members and entries, on one level and on several. */
const SHAPES: Record<string, (count: number) => string> = {
  members: (count) => `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`,
  entries: (count) =>
    `{"a":[${Array(count - 1)
      .fill('1')
      .join()}]}`,
  'empty lists': (count) =>
    `{"a":[${Array(count - 1)
      .fill('[]')
      .join()}]}`,
  'nested objects': (count) =>
    `{${Array.from({ length: count / 2 }, (_, index) => `"${index}":{"a":1}`).join()}${count % 2 ? ',"z":{"a":1}' : ''}}`,
};

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot('prompt "{{ context }}"');
});

const post = (url: string, body: string, headers = {}) =>
  app.inject({
    method: 'POST',
    url,
    headers: { ...tenant.headers, 'content-type': 'application/json', ...headers },
    body,
  });

const FIELDS = { chat: ['ChatInput', 'message'], execute: ['ExecuteInput', 'prompt'] } as const;

const operation = (root: 'chat' | 'execute', field: string, json: string, kind = 'mutation') => {
  const [type, text] = FIELDS[root];
  const selection = kind === 'subscription' ? '__typename' : root === 'chat' ? 'response' : 'id';
  const query = `${kind} ($b: ID!, $i: ${type}!) { ${root}(botId: $b, input: $i) { ${selection} } }`;
  return `{"query":${JSON.stringify(query)},"variables":{"b":"${bot}","i":{"${text}":"Hi","${field}":${json}}}}`;
};

const TOKEN = 'mutation ($i: CreateSessionTokenInput!) { createSessionToken(input: $i) { token } }';
const DRAFT =
  'mutation ($b: ID!, $i: ChatInput!, $d: String!) { chat(botId: $b, input: $i, definition: $d) { response } }';

/** Every request with an object of the client. */
const WAYS: [string, (json: string) => Promise<{ body: string }>][] = [
  ['a chat', (json) => post(`/v1/bots/${bot}/chat`, `{"message":"Hi","context":${json}}`)],
  [
    'a streamed chat',
    (json) =>
      post(`/v1/bots/${bot}/chat`, `{"message":"Hi","stream":true,"context":${json}}`, {
        accept: 'text/event-stream',
      }),
  ],
  ['an execute', (json) => post(`/v1/bots/${bot}/execute`, `{"prompt":"Hi","context":${json}}`)],
  [
    'the metadata of an execute',
    (json) => post(`/v1/bots/${bot}/execute`, `{"prompt":"Hi","metadata":${json}}`),
  ],
  ['a mutation', (json) => post('/graphql', operation('chat', 'context', json))],
  ['an execute mutation', (json) => post('/graphql', operation('execute', 'context', json))],
  ['metadata in GraphQL', (json) => post('/graphql', operation('execute', 'metadata', json))],
  [
    'a subscription',
    (json) =>
      post('/graphql/stream', operation('chat', 'context', json, 'subscription'), {
        accept: 'text/event-stream',
      }),
  ],
  [
    'a session token',
    (json) =>
      post(
        '/graphql',
        `{"query":"${TOKEN}","variables":{"i":{"botId":"${bot}","sessionId":"s","context":${json}}}}`,
      ),
  ],
  [
    'a draft',
    (json) =>
      post(
        '/graphql',
        `{"query":"${DRAFT}","variables":{"b":"${bot}","d":"agentlang 5","i":{"message":"Hi","context":${json}}}}`,
      ),
  ],
];

describe.each(Object.entries(SHAPES))('an object with more than 10,000 %s', (_shape, make) => {
  test.each(WAYS)('is refused in %s', async (_way, send) => {
    expect((await send(make(MOST + 1))).body).toContain(TOO_MANY);
  });

  test('is refused over a WebSocket', async () => {
    const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws');
    await once(socket, 'open');
    const payload = { Authorization: tenant.headers.authorization };
    socket.send(JSON.stringify({ type: 'connection_init', payload }));
    await once(socket, 'message');
    const subscription = operation('chat', 'context', make(MOST + 1), 'subscription');
    socket.send(`{"id":"1","type":"subscribe","payload":${subscription}}`);
    const [refusal] = await once(socket, 'message');
    expect(String(refusal)).toContain(TOO_MANY);
    socket.close();
  });

  test('is accepted with exactly as many', async () => {
    const { statusCode, json } = await post(
      `/v1/bots/${bot}/chat`,
      `{"message":"Hi","context":${make(MOST)}}`,
    );
    expect(statusCode, JSON.stringify(json())).toBe(200);
  });
});

test('an input object with thousands of unknown fields gets one error', async () => {
  const members = (SHAPES.members?.(20_000) ?? '').slice(1, -1);
  const query = 'mutation ($b: ID!, $i: ChatInput!) { chat(botId: $b, input: $i) { response } }';
  const { body } = await post(
    '/graphql',
    `{"query":"${query}","variables":{"b":"${bot}","i":{"message":"Hi",${members}}}}`,
  );
  expect(JSON.parse(body).errors).toEqual([
    expect.objectContaining({
      message: expect.stringContaining('i: has 20001 fields'),
      extensions: expect.objectContaining({ code: 'INVALID_REQUEST' }),
    }),
  ]);
});
