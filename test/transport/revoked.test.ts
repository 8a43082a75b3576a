import { once } from 'node:events';
import { get } from 'node:http';
import { createClient as createEventClient } from 'graphql-sse';
import { createClient } from 'graphql-ws';
import { beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

const query = () =>
  `subscription { chat(botId: "${bot}", input: { message: "Hi", onDisconnect: CANCEL }) { __typename ... on RunStarted { runId } } }`;

type Chat = { chat: { __typename: string; runId: string } };
type Result = { data?: Chat | null; errors?: readonly { extensions?: unknown }[] };

/** The same subscription by every way of streaming over HTTP. */
const overHttp = {
  yoga: async function* (key: string): AsyncGenerator<Result> {
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ query: query() }),
    });
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      const frames = text.split('\n\n');
      text = frames.pop() ?? '';
      for (const frame of frames) {
        const data = /^data: ?(\{.*\})$/m.exec(frame)?.[1];
        if (data) yield JSON.parse(data);
      }
    }
  },
  'graphql-sse': (key: string): AsyncIterable<Result> =>
    createEventClient({
      url: `${app.url}/graphql/stream`,
      headers: { Authorization: `Bearer ${key}` },
      retryAttempts: 0,
    }).iterate<Chat>({ query: query() }),
  'graphql-sse on one connection': async function* (key: string): AsyncGenerator<Result> {
    const client = createEventClient({
      url: `${app.url}/graphql/stream`,
      headers: { Authorization: `Bearer ${key}` },
      singleConnection: true,
      retryAttempts: 0,
    });
    yield* client.iterate<Chat>({ query: query() });
    client.dispose();
  },
};

/** Revokes it in the database alone: no word of it is said. */
const revokeSilently = (prefix: string) =>
  app.prisma.apiKey.updateMany({
    where: { accountId: tenant.accountId, prefix },
    data: { revokedAt: new Date() },
  });

const revoke = async (key: string) => {
  const { data } = await app.graphql(key, '{ viewer { apiKey { id } } }');
  const { errors } = await tenant.graphql(
    `mutation { revokeApiKey(id: "${data.viewer.apiKey.id}") { id } }`,
  );
  expect(errors).toBeUndefined();
};

const statusOf = async (id = '') =>
  (await app.prisma.run.findUniqueOrThrow({ where: { id } })).status;

describe('when a key is revoked', () => {
  test.each(Object.entries(overHttp))('its subscriptions over %s end', async (_way, open) => {
    app.upstream.script(({ say }) => say('Hello'));
    const key = await tenant.key();
    const types: unknown[] = [];
    let runId: string | undefined;
    for await (const { data, errors } of open(key)) {
      types.push(data?.chat.__typename ?? errors?.[0]?.extensions);
      runId ??= data?.chat.runId;
      if (data?.chat.__typename === 'TextDelta') await revoke(key);
    }
    expect(types).toEqual(['RunStarted', 'TextDelta', { code: 'INVALID_API_KEY' }]);
    await expect.poll(() => statusOf(runId)).toBe('CANCELLED');
  });

  test('its WebSockets are closed with 4403', async () => {
    app.upstream.script(({ say }) => say('Hello'));
    const key = await tenant.key();
    const closed = Promise.withResolvers<unknown>();
    const client = createClient({
      url: app.webSocketUrl,
      webSocketImpl: WebSocket,
      connectionParams: { Authorization: `Bearer ${key}` },
      retryAttempts: 0,
      on: { closed: closed.resolve },
    });
    const events = client.iterate<Chat>({ query: query() });
    const { value } = await events.next();
    await events.next();
    await revoke(key);
    expect(await closed.promise).toMatchObject({ code: 4403, reason: 'Forbidden' });
    await expect.poll(() => statusOf(value?.data?.chat.runId)).toBe('CANCELLED');
  });

  test('its subscriptions end within a second also where the word of it is lost', async () => {
    app.upstream.script(({ say }) => say('Hello'));
    const key = await tenant.key();
    const codes: unknown[] = [];
    for await (const { data, errors } of overHttp['graphql-sse'](key)) {
      if (data?.chat.__typename === 'TextDelta') await revokeSilently(key.slice(0, 14));
      if (errors) codes.push(errors[0]?.extensions);
    }
    expect(codes).toEqual([{ code: 'INVALID_API_KEY' }]);
  });
});

describe('when a key is revoked that a subscription hangs on whose reader reads nothing', () => {
  test.each(['/graphql', '/graphql/stream'])('its run is stopped: at %s', async (path) => {
    const words = 'x'.repeat(256 * 1024);
    app.upstream.script(({ say }) => {
      for (let count = 0; count < 32; count += 1) say(words);
    });
    const key = await tenant.key();
    const own = await tenant.bot();
    const flooded = `subscription { chat(botId: "${own}", input: { message: "Hi" }) { ... on TextDelta { delta } } }`;
    const stream = get(`${app.url}${path}?query=${encodeURIComponent(flooded)}`, {
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
    });
    const [response] = await once(stream, 'response');
    response.pause();
    const where = { botId: own, response: { contains: words } };
    await expect.poll(() => app.prisma.run.count({ where })).toBe(1);
    await revoke(key);
    await expect.poll(app.upstream.underWay).toBe(0);
    stream.on('error', () => {}).destroy();
  });
});

describe('a key', () => {
  test('has at most 100 subscriptions open, and room again when one ends', async () => {
    app.upstream.script(({ say }) => say('Hello'));
    const key = await tenant.key();
    const client = createClient({
      url: app.webSocketUrl,
      webSocketImpl: WebSocket,
      connectionParams: { Authorization: `Bearer ${key}` },
    });
    const first = await client.iterate<Chat>({ query: query() }).next();
    const { runId } = first.value?.data?.chat ?? {};
    const follow = () =>
      client.iterate<{ runEvents: { __typename: string } }>({
        query: `subscription { runEvents(runId: "${runId}") { __typename } }`,
      });
    const open = Array.from({ length: 99 }, follow);
    await Promise.all(open.map((one) => one.next()));
    const code = async () => {
      const one = follow();
      const answer = await one.next();
      await one.return?.();
      return answer.value?.errors?.[0]?.extensions ?? answer.value?.data?.runEvents.__typename;
    };
    expect(await code()).toEqual({ code: 'RATE_LIMIT_EXCEEDED', retryAfter: 1 });
    await open[0]?.return?.();
    await expect.poll(code).toBe('RunStarted');
    await client.dispose();
  });
});
