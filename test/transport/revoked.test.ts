import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { get } from 'node:http';
import { createClient } from 'graphql-ws';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { readError } from '../helpers/documented.ts';
import {
  eventsOf,
  GRAPHQL_READERS,
  overWebSocket,
  REST_READERS,
  readFrames,
  readWhole,
} from '../helpers/readers.ts';
import { openSocket, readAnswers, requestText } from '../helpers/wire.ts';

const TEXT = 'x'.repeat(64 * 1024);

let app: TestApp;
let tenant: Tenant;
let bot: string;
let finish: () => void;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});
beforeEach(() => {
  const finished = Promise.withResolvers<void>();
  finish = finished.resolve;
  app.upstream.script(async ({ say, end, closed }) => {
    say('Hello');
    await Promise.race([finished.promise, closed]);
    end();
  });
});

/** Revokes a key in the database, without a notification. */
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

const post = (key: string, body: object, headers = {}) =>
  fetch(`${app.url}/v1/bots/${bot}/chat`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
  });

describe('when a key is revoked', () => {
  test.each(Object.entries(GRAPHQL_READERS))(
    'its subscriptions over %s end',
    async (_way, reader) => {
      const secret = await tenant.key();
      const { items, runId } = await readWhole(reader({ app, bot, secret }), () => revoke(secret));
      expect(items).toEqual(['RunStarted', 'TextDelta', 'INVALID_API_KEY']);
      await expect.poll(() => statusOf(runId)).toBe('CANCELLED');
    },
  );

  test('its WebSockets are closed with 4403', async () => {
    const secret = await tenant.key();
    const items = overWebSocket({ app, bot, secret });
    const read = await readWhole(items, () => revoke(secret));
    expect(read.items).toEqual(['RunStarted', 'TextDelta', '4403 Forbidden']);
    await expect.poll(() => statusOf(read.runId)).toBe('CANCELLED');
  });

  test('its reserved connections are closed, even without active operations', async () => {
    const key = await tenant.key();
    const url = `${app.url}/graphql/stream`;
    const authorization = `Bearer ${key}`;
    const reserved = await fetch(url, { method: 'PUT', headers: { authorization } });
    const token = await reserved.text();
    const stream = await fetch(`${url}?token=${token}`, {
      headers: { authorization, accept: 'text/event-stream' },
    });
    const closed = stream.text().catch(() => 'cut');
    await revoke(key);
    expect(await closed).toBe('cut');
  });

  test.each(Object.entries(REST_READERS))(
    'its streams by %s end, and their runs are cancelled',
    async (_way, reader) => {
      const secret = await tenant.key();
      const { items, runId } = await readWhole(reader({ app, bot, secret }), () => revoke(secret));
      expect(items).toEqual(['delta', 'error invalid_api_key', 'done failed']);
      await expect.poll(() => statusOf(runId)).toBe('CANCELLED');
    },
  );

  test.each(Object.entries(REST_READERS))(
    'runs by %s continue if they were to continue without their client',
    async (_way, reader) => {
      const secret = await tenant.key();
      const headers = { 'x-on-disconnect': 'continue' };
      const read = await readWhole(reader({ app, bot, secret, headers }), () => revoke(secret));
      expect(read.items).toEqual(['delta', 'error invalid_api_key', 'done failed']);
      expect(await statusOf(read.runId)).toBe('RUNNING');
      finish();
      await expect.poll(() => statusOf(read.runId)).toBe('COMPLETED');
    },
  );

  test('its event streams end, and the run continues for its other readers', async () => {
    const secret = await tenant.key();
    const response = await post(tenant.apiKey, { message: 'Hi', stream: true });
    const runId = response.headers.get('x-run-id') ?? '';
    const read = await readWhole(eventsOf(runId)({ app, bot, secret }), () => revoke(secret));
    expect(read.items).toEqual(['run_started', 'delta', 'error invalid_api_key', 'done failed']);
    finish();
    expect((await Array.fromAsync(readFrames(response))).at(-1)).not.toHaveProperty('status');
    expect(await statusOf(runId)).toBe('COMPLETED');
  });

  test('its streams end with an error event and the run’s id', async () => {
    const key = await tenant.key();
    const response = await post(key, { message: 'Hi', stream: true }, { 'x-request-id': 'mine' });
    const events = readFrames(response);
    expect((await events.next()).value).toEqual({ delta: 'Hello' });
    await revoke(key);
    const code = 'invalid_api_key';
    expect(await Array.fromAsync(events)).toEqual([
      {
        event: 'error',
        delta: '',
        error: { code, message: expect.any(String), request_id: 'mine' },
      },
      {
        event: 'done',
        run_id: response.headers.get('x-run-id'),
        latency_ms: expect.any(Number),
        status: 'failed',
      },
    ]);
  });

  test.each([
    [GRAPHQL_READERS.yoga, 'INVALID_API_KEY'],
    [GRAPHQL_READERS['graphql-sse'], 'INVALID_API_KEY'],
    [overWebSocket, '4403 Forbidden'],
    [REST_READERS['POST chat'], 'status 401'],
  ])('its queued messages leave the queue (%#)', async (reader, refusal) => {
    const sessionId = randomUUID();
    const message = { message: 'Hi', stream: true };
    const before = await post(tenant.apiKey, message, { 'x-session-id': sessionId });
    const secret = await tenant.key();
    const waits = readWhole(reader({ app, bot, secret, sessionId }), () => {});
    await expect.poll(app.waiting).toBe(1);
    await revoke(secret);
    expect((await waits).items).toEqual([refusal]);
    await expect.poll(app.waiting).toBe(0);
    finish();
    await before.text();
  });

  test('a definition whose upload is not complete is not deployed', async () => {
    const [own, secret] = [await tenant.bot(null), await tenant.key()];
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ agentlang: agent() });
    const request = requestText(`POST /v1/bots/${own}/deploy`, headers, body);
    const socket = openSocket(app.url);
    socket.write(request.slice(0, -1));
    const where = { prefix: secret.slice(0, 14), lastUsedAt: { not: null } };
    await expect.poll(() => app.prisma.apiKey.count({ where })).toBe(1);
    await revoke(secret);
    socket.write(request.slice(-1));
    const [answer] = readAnswers(Buffer.concat(await Array.fromAsync<Buffer>(socket)));
    expect(answer && readError(answer)).toMatchObject({ code: 'invalid_api_key' });
    expect(await app.prisma.deployment.count({ where: { botId: own } })).toBe(0);
  });

  test('a stream that its client does not read ends', async () => {
    const closed = Promise.withResolvers<unknown>();
    app.upstream.script(async ({ response, say, closed: hungUp }) => {
      hungUp.then(closed.resolve);
      while (!response.destroyed) {
        say(TEXT);
        if (response.writableNeedDrain) await Promise.race([once(response, 'drain'), hungUp]);
      }
    });
    const key = await tenant.key();
    const response = await post(key, { message: 'Hi', stream: true });
    await revoke(key);
    await closed.promise;
    const whole = await Array.fromAsync(readFrames(response));
    expect(whole.slice(-2)).toMatchObject([{ event: 'error' }, { event: 'done' }]);
  });

  test('it is noticed even if the notification is lost', async () => {
    const secrets = [await tenant.key(), await tenant.key()] as const;
    const silently = (secret: string) => async () => {
      await revokeSilently(secret.slice(0, 14));
    };
    const overSse = GRAPHQL_READERS['graphql-sse']({ app, bot, secret: secrets[0] });
    expect((await readWhole(overSse, silently(secrets[0]))).items.at(-1)).toBe('INVALID_API_KEY');
    const overRest = REST_READERS['POST chat']({ app, bot, secret: secrets[1] });
    expect((await readWhole(overRest, silently(secrets[1]))).items.at(-1)).toBe('done failed');
  });
});

describe('when a key is revoked while its subscription has an unread stream', () => {
  test.each(['/graphql', '/graphql/stream'])('its run is cancelled: at %s', async (path) => {
    const text = 'x'.repeat(256 * 1024);
    app.upstream.script(({ say }) => {
      for (let count = 0; count < 32; count += 1) say(text);
    });
    const key = await tenant.key();
    const own = await tenant.bot();
    const flooded = `subscription { chat(botId: "${own}", input: { message: "Hi" }) { ... on TextDelta { delta } } }`;
    const stream = get(`${app.url}${path}?query=${encodeURIComponent(flooded)}`, {
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
    });
    const [response] = await once(stream, 'response');
    response.pause();
    const where = { botId: own, response: { contains: text } };
    await expect.poll(() => app.prisma.run.count({ where })).toBe(1);
    await revoke(key);
    await expect.poll(app.upstream.openResponses).toBe(0);
    stream.on('error', () => {}).destroy();
  });
});

describe('a key', () => {
  test('may have 100 subscriptions open, and another when one ends', async () => {
    const key = await tenant.key();
    const client = createClient({
      url: app.webSocketUrl,
      webSocketImpl: WebSocket,
      connectionParams: { Authorization: `Bearer ${key}` },
    });
    const query = `subscription { chat(botId: "${bot}", input: { message: "Hi" }) { ... on RunStarted { runId } } }`;
    const first = await client.iterate<{ chat: { runId: string } }>({ query }).next();
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
