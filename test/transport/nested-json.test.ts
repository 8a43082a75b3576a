import { once } from 'node:events';
import { beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot('prompt "{{ context }}"\n  tools time');
});

const LEVELS = 100_000;
const SHAPES = {
  objects: `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`,
  lists: `{"a":${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}}`,
};
const TOO_DEEP = 'must not be nested deeper than 32 levels';

const post = (path: string, body: string, headers = {}) =>
  fetch(app.url + path, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json', ...headers },
    body,
  });

/** A GraphQL request with a variable that is too deep for `JSON.stringify`. */
const request = (operation: string, field: string, json: string) => {
  const [name, type] = operation.endsWith('chat') ? ['message', 'Chat'] : ['prompt', 'Execute'];
  const [kind, root] = operation.split(' ');
  const selection = kind === 'subscription' ? '__typename' : root === 'chat' ? 'response' : 'id';
  const query = `${kind} ($botId: ID!, $input: ${type}Input!) { ${root}(botId: $botId, input: $input) { ${selection} } }`;
  const input = `{"${name}":"Hi","idempotencyKey":"${field}","${field}":${json}}`;
  return `{"query":${JSON.stringify(query)},"variables":{"botId":"${bot}","input":${input}}}`;
};

const isAlive = async () => expect((await tenant.chat(bot, { message: 'Hi' })).status).toBe(200);

describe.each(Object.entries(SHAPES))('100,000 levels of %s', (_what, json) => {
  test.each([
    ['chat', 'message', 'context'],
    ['execute', 'prompt', 'context'],
    ['execute', 'prompt', 'metadata'],
  ])('get a clear 400 from %s, in its %s’s %s', async (operation, text, field) => {
    for (const headers of [{}, { 'idempotency-key': 'deep' }]) {
      const body = `{"${text}":"Hi","background":${field === 'metadata'},"${field}":${json}}`;
      const response = await post(`/v1/bots/${bot}/${operation}`, body, headers);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: { code: 'invalid_request', details: [{ path: field, message: TOO_DEEP }] },
      });
    }
    await isAlive();
  });

  test.each([
    ['mutation chat', 'context'],
    ['mutation execute', 'context'],
    ['mutation execute', 'metadata'],
  ])('get a clear error from %s, in its %s', async (operation, field) => {
    const response = await post('/graphql', request(operation, field, json));
    const { errors } = (await response.json()) as { errors: object[] };
    expect(errors).toMatchObject([
      { message: expect.stringContaining(TOO_DEEP), extensions: { code: 'INVALID_REQUEST' } },
    ]);
    await isAlive();
  });

  test('get a clear error from a subscription over SSE and WebSocket', async () => {
    const body = request('subscription chat', 'context', json);
    const response = await post('/graphql/stream', body, { accept: 'text/event-stream' });
    expect(await response.text()).toContain(TOO_DEEP);

    const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws');
    await once(socket, 'open');
    const init = {
      type: 'connection_init',
      payload: { Authorization: tenant.headers.authorization },
    };
    socket.send(JSON.stringify(init));
    await once(socket, 'message');
    socket.send(`{"id":"1","type":"subscribe","payload":${body}}`);
    const [refusal] = await once(socket, 'message');
    expect(String(refusal)).toContain(TOO_DEEP);
    socket.close();
    await isAlive();
  });

  test('get a clear error as a literal in the document', async () => {
    const literal = json.replaceAll('"', '');
    const query = `mutation { chat(botId: "${bot}", input: { message: "Hi", context: ${literal} }) { response } }`;
    const response = await post('/graphql', JSON.stringify({ query }));
    expect(response.status).toBeLessThan(500);
    const { errors } = (await response.json()) as { errors: { extensions: object }[] };
    expect(errors[0]?.extensions).not.toMatchObject({ code: 'INTERNAL_ERROR' });
    await isAlive();
  });
});
