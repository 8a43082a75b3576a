import { once } from 'node:events';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { readFrames } from '../helpers/readers.ts';
import { frames } from '../helpers/stream.ts';
import { exchange, openSocket, readAnswers, requestText } from '../helpers/wire.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

/** The replica that shuts down. It shares only the database with the other one. */
let stopping: TestApp;
beforeEach(async () => {
  stopping = await startApp();
});

/** Scripts a reply in two parts, the second when the test calls the returned function. */
function scriptReply({ upstream }: TestApp): () => void {
  const finished = Promise.withResolvers<void>();
  upstream.script(async ({ say, end, closed }) => {
    say('Hello');
    await Promise.race([finished.promise, closed]);
    say(' there.');
    end();
  });
  return finished.resolve;
}

const streamed = (at: TestApp, key: string = crypto.randomUUID()) =>
  fetch(`${at.url}/v1/bots/${bot}/chat/stream?message=Hi`, {
    headers: { ...tenant.headers, 'idempotency-key': key },
  });

/** Waits until a stream has the first part of the reply, which another replica reads from the database. */
async function begun(response: Response) {
  const events = readFrames(response);
  const first: object[] = [];
  for (let isBegun = false; !isBegun; ) {
    const { value } = await events.next();
    if (!value) throw new Error('The stream ended before the first part of the reply.');
    first.push(value);
    isBegun = value.delta === 'Hello';
  }
  return {
    request_id: response.headers.get('x-request-id'),
    /** Reads to the end. @returns all frames. */
    frames: async () => [...first, ...(await Array.fromAsync(events))],
  };
}

/** No reply takes as long, even on a slow machine. */
const DRAIN_LIMIT_MS = 120_000;

/** Starts the shutdown, and waits until no new connection is accepted. */
async function stop() {
  const closed = stopping.close(DRAIN_LIMIT_MS);
  const other = { headers: { connection: 'close' } };
  await expect(fetch(`${stopping.url}/healthz`, other)).rejects.toThrow();
  return { closed };
}

describe('a replica that shuts down while it streams a run of another replica', () => {
  /** Reads the run in both streaming ways: its events, and the reply, joined by its idempotency key. */
  const readStreams = async () => {
    const finish = scriptReply(app);
    const key = crypto.randomUUID();
    const first = await streamed(app, key);
    const run_id = first.headers.get('x-run-id') ?? '';
    const { headers } = tenant;
    const streams = [
      await begun(await fetch(`${stopping.url}/v1/bots/${bot}/runs/${run_id}/events`, { headers })),
      await begun(await streamed(stopping, key)),
    ];
    return { first, run_id, streams, finish };
  };

  test('streams the rest of the run', async () => {
    const { first, run_id, streams, finish } = await readStreams();
    const { closed } = await stop();
    finish();
    for (const stream of streams) {
      expect((await stream.frames()).slice(-3)).toEqual([
        { delta: 'Hello' },
        { delta: ' there.' },
        { event: 'done', run_id, latency_ms: expect.any(Number) },
      ]);
    }
    await first.text();
    await closed;
  });

  test('ends the streams with an error at the drain limit, and the run continues', async () => {
    const { first, run_id, streams, finish } = await readStreams();
    await stopping.close(0);
    for (const stream of streams) {
      const { request_id } = stream;
      const message = 'The server is stopping. Send the request again.';
      expect((await stream.frames()).slice(-3)).toEqual([
        { delta: 'Hello' },
        { event: 'error', delta: '', error: { code: 'internal_error', message, request_id } },
        { event: 'done', run_id, latency_ms: expect.any(Number), status: 'failed' },
      ]);
    }
    finish();
    expect((await frames(first)).at(-1)).not.toHaveProperty('status');
  });
});

describe('a replica that shuts down', () => {
  /** Frames of a WebSocket. Source: RFC 6455, section 5.5. */
  const PING = Buffer.from([0x89, 0x80, 0, 0, 0, 0]);
  const PONG = Buffer.from([0x8a, 0]);
  /** Requests that leave their connection open. */
  const get = (path: string) =>
    requestText(`GET ${path}`, { ...tenant.headers, connection: undefined });
  const chat = () => get(`/v1/bots/${bot}/chat/stream?message=Hi`);
  const whole = () =>
    requestText(
      `POST /v1/bots/${bot}/chat`,
      { ...tenant.headers, 'content-type': 'application/json', connection: undefined },
      '{"message": "Hi"}',
    );
  const upgrade = requestText('GET /graphql/ws', {
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
    'sec-websocket-protocol': 'graphql-transport-ws',
  });
  const underWay = (count: number) => expect.poll(stopping.upstream.openResponses).toBe(count);

  test('closes idle connections at once, and no others', async () => {
    const finish = scriptReply(stopping);
    const upgraded = openSocket(stopping.url);
    const cut = once(upgraded, 'end');
    upgraded.write(get('/healthz'));
    await once(upgraded, 'data');
    upgraded.write(upgrade);
    await once(upgraded, 'data');
    const idle = openSocket(stopping.url);
    idle.write(get('/healthz'));
    await once(idle, 'data');
    const answer = exchange(stopping.url, whole());
    await underWay(1);
    const closed = stopping.close(DRAIN_LIMIT_MS);
    await once(idle.resume(), 'end');
    idle.destroy();
    upgraded.write(PING);
    expect(await Promise.race([once(upgraded, 'data'), cut])).toEqual([PONG]);
    upgraded.destroy();
    finish();
    expect(readAnswers(await answer).map(({ status }) => status)).toEqual([200]);
    await closed;
  });

  test('sends Connection: close with the last response on a connection', async () => {
    const finish = scriptReply(stopping);
    const answers = exchange(stopping.url, whole() + whole());
    await underWay(2);
    const closed = stopping.close(DRAIN_LIMIT_MS);
    finish();
    const received = readAnswers(await answers).map(({ status, headers }) => [
      status,
      headers.get('connection'),
    ]);
    expect(received).toEqual([
      [200, 'keep-alive'],
      [200, 'close'],
    ]);
    await closed;
  });

  test('closes a connection after a stream that began before the shutdown', async () => {
    const finishStream = scriptReply(stopping);
    const stream = openSocket(stopping.url);
    stream.write(chat());
    await once(stream, 'data');
    const finish = scriptReply(stopping);
    const answer = exchange(stopping.url, whole());
    await underWay(2);
    const closed = stopping.close(DRAIN_LIMIT_MS);
    finishStream();
    await once(stream.resume(), 'end');
    stream.destroy();
    finish();
    expect(readAnswers(await answer).map(({ status }) => status)).toEqual([200]);
    await closed;
  });
});
