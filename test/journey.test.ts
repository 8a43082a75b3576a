import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { createClient as createEventStreamClient } from 'graphql-sse';
import { createClient as createWebSocketClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { freshDatabase } from './helpers/database.ts';
import { temporaryDirectory } from './helpers/directories.ts';
import { type ServerProcess, type StartOptions, startServer } from './helpers/server.ts';

const run = promisify(execFile);

const CHAT =
  'mutation ($id: ID!, $input: ChatInput!) { chat(botId: $id, input: $input) { response } }';
const STREAM = `subscription ($id: ID!, $input: ChatInput!) {
  chat(botId: $id, input: $input) { __typename ... on TextDelta { seq delta } }
}`;

type Delta = { data?: { chat: { __typename: string; delta?: string } } | null };

// The tests tell one story, in their order.
describe('a newcomer, from the first start', { shuffle: false }, () => {
  let server: ServerProcess;
  let options: StartOptions;
  let operatorKey: string;

  beforeAll(async () => {
    const databaseUrl = inject('databaseUrl');
    options = {
      dataDirectory: await temporaryDirectory(),
      env: databaseUrl
        ? {
            DATABASE_URL: await freshDatabase(databaseUrl, 'journey'),
            PARLEY_SECRET_KEY: randomBytes(32).toString('base64'),
          }
        : {},
    };
    server = await startServer(options);
    operatorKey = server.operatorKey();
  });

  afterAll(async () => {
    await server.stop('SIGTERM');
  });

  const graphql = async (key: string, query: string, variables = {}) => {
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: the test knows the shape of its query
    const answer = (await response.json()) as { data: any; errors?: unknown };
    expect(answer.errors).toBeUndefined();
    return answer.data;
  };

  const rest = (key: string, body: object, headers = {}) =>
    fetch(`${server.url}/v1/bots/demo/chat`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
    });

  test('gets a reply in the documented form from the printed curl line', async () => {
    const line = /Try: +(curl .*)/.exec(server.output())?.[1] ?? '';
    const { stdout } = await run('sh', ['-c', line]);
    expect(JSON.parse(stdout)).toEqual({
      response: expect.stringContaining('Hello!'),
      session_id: 'user-1',
      run_id: expect.stringMatching(/^run_/),
      latency_ms: expect.any(Number),
      tokens_used: expect.any(Number),
      tools_called: [],
    });
  });

  test('gets the same reply to the same message over every interface', async () => {
    const message = 'Is anybody there?';
    const variables = (sessionId: string) => ({ id: 'demo', input: { message, sessionId } });

    const json = await (await rest(operatorKey, { message }, { 'x-session-id': 'json' })).json();
    const { response } = json as { response: string };
    expect(response).toContain(message);

    const sse = await rest(
      operatorKey,
      { message, stream: true },
      { 'x-session-id': 'sse', accept: 'text/event-stream' },
    );
    const frames = (await sse.text())
      .split('\n\n')
      .filter(Boolean)
      .map((frame) => JSON.parse(frame.replace(/^data: /, '')));
    expect(frames.pop()).toEqual({
      event: 'done',
      run_id: sse.headers.get('x-run-id'),
      latency_ms: expect.any(Number),
    });
    expect(frames.map(({ delta }) => delta).join('')).toBe(response);

    expect(await graphql(operatorKey, CHAT, variables('http'))).toEqual({ chat: { response } });

    const eventStream = createEventStreamClient({
      url: `${server.url}/graphql/stream`,
      headers: { Authorization: `Bearer ${operatorKey}` },
    });
    const distinct = eventStream.iterate({ query: STREAM, variables: variables('distinct') });
    expect(await textOf(distinct as AsyncIterable<Delta>)).toBe(response);

    const single = createEventStreamClient({
      singleConnection: true,
      url: `${server.url}/graphql/stream`,
      headers: { Authorization: `Bearer ${operatorKey}` },
    });
    const shared = single.iterate({ query: STREAM, variables: variables('single') });
    expect(await textOf(shared as AsyncIterable<Delta>)).toBe(response);
    single.dispose();

    const webSocket = createWebSocketClient({
      url: `${server.url.replace('http', 'ws')}/graphql/ws`,
      connectionParams: { Authorization: `Bearer ${operatorKey}` },
    });
    const socket = webSocket.iterate({ query: STREAM, variables: variables('socket') });
    expect(await textOf(socket as AsyncIterable<Delta>)).toBe(response);
    await webSocket.dispose();
  });

  test('creates an account as operator, and a bot and a key for it as owner', async () => {
    const { createAccount } = await graphql(
      operatorKey,
      'mutation { createAccount(input: { name: "ACME", plan: PRO }) { secret account { plan } } }',
    );
    expect(createAccount.account.plan).toBe('PRO');
    const { createBot } = await graphql(
      createAccount.secret,
      'mutation { createBot(input: { id: "acme-desk", name: "Desk" }) { id name } }',
    );
    expect(createBot).toEqual({ id: 'acme-desk', name: 'Desk' });
    const { createApiKey } = await graphql(
      createAccount.secret,
      'mutation { createApiKey(input: { name: "Web", botIds: ["acme-desk"] }) { secret apiKey { scopes bots { id } } } }',
    );
    expect(createApiKey.apiKey).toEqual({ scopes: ['CHAT'], bots: [{ id: 'acme-desk' }] });

    const undeployed = await fetch(`${server.url}/v1/bots/acme-desk/chat`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${createApiKey.secret}`,
        'content-type': 'application/json',
      },
      body: '{"message": "Hello!"}',
    });
    expect(undeployed.status).toBe(400);
    expect(await undeployed.json()).toMatchObject({ error: { code: 'bot_not_deployed' } });
    expect((await rest(createApiKey.secret, { message: 'Hello!' })).status).toBe(403);
  });

  test('opens GraphiQL without a key, with no external resources', async () => {
    const page = await fetch(`${server.url}/graphql`, { headers: { accept: 'text/html' } });
    expect(page.status).toBe(200);
    const html = await page.text();
    expect(html).toContain('Parley');
    expect(html).not.toMatch(/<(script|link)[^>]+(src|href)="https?:/);
  });

  test('continues a session after a restart', async () => {
    const send = async (message: string) => {
      const response = await rest(operatorKey, { message }, { 'x-session-id': 'returning' });
      return ((await response.json()) as { response: string }).response;
    };
    await send('My name is Ada.');
    expect(await server.stop('SIGINT')).toBe(0);
    server = await startServer(options);
    expect(server.output()).not.toContain('parley_sk_');
    expect(await send('Who am I?')).toContain('My name is Ada.');
  });

  test('loses no completed turn if the process is killed during a stream', async () => {
    const headers = { 'x-session-id': 'killed', accept: 'text/event-stream' };
    await (await rest(operatorKey, { message: 'This is stored.' }, headers)).json();
    // The model repeats the message word by word, so the reply takes longer than any pause of a busy machine.
    const message = 'This is cut. '.repeat(2_000);
    const stream = await rest(operatorKey, { message, stream: true }, headers);
    const reader = stream.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    expect(await server.stop('SIGKILL')).toBe('SIGKILL');
    server = await startServer(options);
    const { response } = (await (
      await rest(operatorKey, { message: 'What did I say?' }, headers)
    ).json()) as { response: string };
    expect(response).toContain('Before that, you said: "This is stored."');
    const cut = async () => {
      const query = 'query ($id: ID!) { run(id: $id) { status error { code } } }';
      return (await graphql(operatorKey, query, { id: stream.headers.get('x-run-id') })).run;
    };
    const interrupted = { status: 'FAILED', error: { code: 'INTERRUPTED' } };
    await expect.poll(cut).toEqual(interrupted);
  });
});

async function textOf(events: AsyncIterable<Delta>): Promise<string> {
  let text = '';
  for await (const { data } of events) text += data?.chat.delta ?? '';
  return text;
}
