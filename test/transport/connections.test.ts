import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Caller } from '../../src/accounts/caller.ts';
import {
  boundConnections,
  CONNECTION_LIMITS,
  timeoutsFor,
} from '../../src/transport/connections.ts';
import { createSocketReads } from '../../src/transport/socket-reads.ts';
import { watchConnections } from '../helpers/accepted.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { readError } from '../helpers/documented.ts';
import { openSocket, readAnswers, requestText } from '../helpers/wire.ts';

/** A client whose connection the server has accepted. */
async function client(app: TestApp, accepted: Socket[]): Promise<Socket> {
  const count = accepted.length;
  const socket = openSocket(app.url);
  onTestFinished(() => void socket.destroy());
  await expect.poll(() => accepted.length).toBe(count + 1);
  return socket;
}

const chatText = (tenant: Tenant, bot: string, body: string) =>
  requestText(
    `POST /v1/bots/${bot}/chat`,
    { ...tenant.headers, 'content-type': 'application/json', connection: undefined },
    body,
  );

const message = '{"message": "Hi"}';
const NOON = Date.UTC(2026, 10, 20, 12);

test('the connection limits hold even with the intervals at which Node.js checks them', () => {
  const { requestTimeout, connectionTimeout, http } = timeoutsFor(CONNECTION_LIMITS);
  expect(requestTimeout + http.connectionsCheckingInterval).toBeLessThanOrEqual(30_000);
  expect(http.headersTimeout + http.connectionsCheckingInterval).toBeLessThanOrEqual(30_000);
  expect(http.requestTimeout).toBe(requestTimeout);
  expect(2 * connectionTimeout).toBeLessThanOrEqual(30_000);
});

test('a connection that closes while its key is looked up is not kept', async () => {
  const server = createServer();
  const reads = createSocketReads();
  const owned = new Set<Socket>();
  const watched = {
    ...reads,
    assign(socket: Socket, owner: string) {
      owned.add(socket);
      reads.assign(socket, owner);
    },
    release(socket: Socket) {
      owned.delete(socket);
      reads.release(socket);
    },
  };
  const parts = { responses: { on: () => [] }, reads: watched };
  const { trust } = boundConnections(server, parts, CONNECTION_LIMITS, []);
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, 'connection');
  const client = connect(port, '127.0.0.1');
  const [socket] = (await accepted) as [Socket];
  const caller = { account: { id: 'acc_1' } } as Caller;
  trust(socket, caller);
  expect(owned.size).toBe(1);
  client.destroy();
  await once(socket, 'close');
  trust(socket, caller);
  expect(owned.size).toBe(0);
});

describe('a request that does not arrive in time', () => {
  let app: TestApp;
  let tenant: Tenant;
  let bot: string;
  beforeAll(async () => {
    app = await startApp({ connectionLimits: { requestMs: 1_000 }, clock: () => NOON });
    tenant = await app.tenant();
    bot = await tenant.bot();
  });

  /** Sends the first part of a text at once, the rest byte by byte until the server closes the connection. */
  const trickle = async (text: string, half: number) => {
    const accepted = watchConnections(app);
    const socket = await client(app, accepted);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    const received = Promise.race([once(socket, 'end'), once(socket, 'close')]);
    const closed = new Promise<void>((resolve) => accepted[0]?.once('close', () => resolve()));
    socket.write(text.slice(0, half));
    const rest = text.slice(half, -1);
    let isOpen = true;
    void closed.then(() => {
      isOpen = false;
    });
    for (let index = 0; isOpen && index < rest.length; index += 1) {
      socket.write(rest.charAt(index));
      await Promise.race([delay(20), closed]);
    }
    await closed;
    await received;
    return readAnswers(Buffer.concat(chunks));
  };

  test.each([
    ['in its headers', () => requestText('GET /v1/nothing', { a: 'x'.repeat(1_000) })],
    [
      'in the headers of a WebSocket',
      () => requestText('GET /graphql/ws', { upgrade: 'websocket', a: 'x'.repeat(1_000) }),
    ],
    ['in its body', () => chatText(tenant, bot, JSON.stringify({ message: 'x'.repeat(1_000) }))],
  ])('is refused and disconnected if it trickles %s', async (_where, makeText) => {
    const text = makeText();
    const [answer, ...more] = await trickle(text, text.length - 900);
    expect(more).toEqual([]);
    expect(answer && readError(answer)).toMatchObject({
      code: 'invalid_request',
      message: 'The request did not arrive in time.',
    });
  });

  test('costs no request and gets no response if it is empty', async () => {
    const accepted = watchConnections(app);
    const left = async () =>
      Number((await fetch(`${app.url}/v1/nothing`)).headers.get('x-ratelimit-remaining'));
    const before = await left();
    const socket = openSocket(app.url);
    const [received] = await Promise.all([Array.fromAsync(socket), once(socket, 'end')]);
    expect(received).toEqual([]);
    expect(accepted.length).toBeGreaterThan(0);
    expect(await left()).toBe(before - 1);
  });
});

describe('a client that reads nothing', () => {
  test('is disconnected if data waits for it, but not while it waits for a response', async () => {
    const app = await startApp({ connectionLimits: { stallMs: 400 } });
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const answered = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end }) => {
      await answered.promise;
      say('Hello there.');
      end();
    });
    const waiting = tenant.chat(bot, { message: 'Hi' });
    await expect.poll(app.upstream.openResponses).toBe(1);

    const page = await fetch(`${app.url}/graphql`, { headers: { accept: 'text/html' } });
    const [, file = ''] = /src="(graphql\/assets\/[^"]+)"/.exec(await page.text()) ?? [];
    const accepted = watchConnections(app);
    const socket = await client(app, accepted);
    socket.pause();
    const text = requestText(`GET /${file}`, {
      'accept-encoding': 'identity',
      connection: undefined,
    });
    socket.write(text.repeat(20));
    const [connection] = accepted;
    if (!connection) throw new Error('The server has no connection.');
    await expect.poll(() => connection.writableLength).toBeGreaterThan(0);
    expect(connection.writableLength).toBeLessThan(1024 * 1024);
    if (!connection.destroyed) await once(connection, 'close');

    answered.resolve();
    expect((await waiting).status).toBe(200);
  });
});

describe('the connections of an address', () => {
  const limits = { anonymous: 4, graceMs: 0 };
  /** Sends a request and leaves the connection open. @returns the start of the status line. */
  const request = async (socket: Socket, headers: Record<string, string> = {}) => {
    socket.write(requestText('GET /v1/nothing', { ...headers, connection: undefined }));
    const [bytes] = await once(socket, 'data');
    return String(bytes).slice(0, 12);
  };

  test('are limited: the oldest without a key are closed first, and those with a key stay', async () => {
    const app = await startApp({ connectionLimits: limits });
    const tenant = await app.tenant();
    const accepted = watchConnections(app);
    const keyed = await client(app, accepted);
    expect(await request(keyed, tenant.headers)).toBe('HTTP/1.1 404');
    const upgraded = new WebSocket(app.webSocketUrl, 'graphql-transport-ws', tenant);
    await once(upgraded, 'open');
    upgraded.send('{"type": "connection_init"}');
    await once(upgraded, 'message');
    const anonymous: Socket[] = [];
    for (let count = 0; count < 12; count += 1) anonymous.push(await client(app, accepted));
    const open = () => accepted.filter(({ destroyed }) => !destroyed);
    await expect.poll(() => open().length).toBe(2 + limits.anonymous);
    expect(open()).toEqual([...accepted.slice(0, 2), ...accepted.slice(-limits.anonymous)]);
    expect(await request(keyed, tenant.headers)).toBe('HTTP/1.1 404');
    const last = anonymous.at(-1);
    expect(last && (await request(last, tenant.headers))).toBe('HTTP/1.1 404');
    expect(upgraded.readyState).toBe(WebSocket.OPEN);
    upgraded.close();
  });

  test('have time to authenticate', async () => {
    const app = await startApp({ connectionLimits: { ...limits, graceMs: 60_000 } });
    const tenant = await app.tenant();
    const accepted = watchConnections(app);
    const sockets: Socket[] = [];
    for (let count = 0; count < 12; count += 1) sockets.push(await client(app, accepted));
    for (const socket of sockets)
      expect(await request(socket, tenant.headers)).toBe('HTTP/1.1 404');
  });

  test.each([['127.0.0.1'], ['127.0.0.0/8']])(
    'are not limited if it is a trusted proxy: %s',
    async (proxy) => {
      const app = await startApp({ connectionLimits: limits, trustProxy: [proxy] });
      const accepted = watchConnections(app);
      const sockets: Socket[] = [];
      for (let count = 0; count < 12; count += 1) sockets.push(await client(app, accepted));
      for (const socket of sockets) expect(await request(socket)).toMatch(/^HTTP\/1.1 4/);
    },
  );
});

describe('one connection', () => {
  test('has a limit of pipelined requests, and is closed beyond it', async () => {
    const app = await startApp({ connectionLimits: { pipelined: 5 } });
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const answered = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end, closed }) => {
      await Promise.race([answered.promise, closed]);
      say('Hello there.');
      end();
    });
    const healthz = requestText('GET /healthz', { connection: undefined });
    const read = async (more: string) => {
      const accepted = watchConnections(app);
      const socket = await client(app, accepted);
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      const ended = Promise.race([once(socket, 'end'), once(socket, 'close')]);
      socket.write(chatText(tenant, bot, message) + more);
      return { chunks, ended };
    };
    const flooding = await read(healthz.repeat(5));
    await flooding.ended;
    expect(flooding.chunks).toEqual([]);
    const within = await read(healthz.repeat(3) + requestText('GET /healthz'));
    await expect.poll(app.upstream.openResponses).toBe(1);
    answered.resolve();
    await within.ended;
    const statuses = readAnswers(Buffer.concat(within.chunks)).map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
  });
});

describe('incoming bodies', () => {
  test('are limited to 4 MiB for an address without a key, but not for callers with a key', async () => {
    let now = NOON;
    const clock = () => {
      now += 60_000;
      return now;
    };
    const app = await startApp({ clock });
    const tenant = await app.tenant();
    const body = `{"query": "{ __typename }"}`.padEnd(65_536);
    const accepted = watchConnections(app);
    const halves: Socket[] = [];
    for (let count = 0; count < 80; count += 1) {
      const socket = await client(app, accepted);
      const headers = { 'content-type': 'application/json', 'content-length': '65536' };
      socket.write(requestText('POST /graphql', headers) + body.slice(0, 60_000));
      halves.push(socket);
    }
    const request = (headers = {}) =>
      fetch(`${app.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      });
    const status = async () => (await request()).status;
    await expect.poll(status, { interval: 20 }).toBe(429);
    const refused = await request();
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toMatchObject({
      errors: [{ extensions: { code: 'RATE_LIMIT_EXCEEDED' } }],
    });
    expect(await (await request(tenant.headers)).json()).toEqual({ data: { __typename: 'Query' } });
    for (const half of halves) half.destroy();
    await expect.poll(status, { interval: 20 }).toBe(200);
  });

  test('are not read before the caller is known', async () => {
    const app = await startApp();
    const accepted = watchConnections(app);
    const socket = await client(app, accepted);
    const line = 'POST /v1/bots/any/chat';
    socket.write(requestText(line, { 'content-length': '1048576', connection: undefined }));
    const [bytes] = await once(socket, 'data');
    expect(String(bytes)).toMatch(/^HTTP\/1.1 401 /);
  });
});

describe('a key', () => {
  test('may have 100 WebSockets open, and another when one has closed', async () => {
    const app = await startApp();
    const tenant = await app.tenant();
    const connectWith = async () => {
      const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws', tenant);
      onTestFinished(() => socket.terminate());
      await once(socket, 'open');
      socket.send('{"type": "connection_init"}');
      const acknowledged = once(socket, 'message').then(([data]) => JSON.parse(String(data)).type);
      const closed = once(socket, 'close').then(([code]) => code);
      return { socket, received: await Promise.race([acknowledged, closed]) };
    };
    const first = await connectWith();
    const others = await Promise.all(Array.from({ length: 99 }, connectWith));
    expect(new Set(others.map(({ received }) => received))).toEqual(new Set(['connection_ack']));
    expect((await connectWith()).received).toBe(4429);
    first.socket.close();
    await expect.poll(async () => (await connectWith()).received).toBe('connection_ack');
  });
});
