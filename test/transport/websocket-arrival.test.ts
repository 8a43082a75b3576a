import { once } from 'node:events';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import {
  frame,
  headerOfLongFrame,
  openRawWebSocket,
  type RawWebSocket,
  UPGRADE,
} from '../helpers/raw-websocket.ts';
import { openSocket, requestText } from '../helpers/wire.ts';

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const PING = 9;
const CONTINUATION = 0;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});

const json = (message: object) => frame(JSON.stringify(message));
const initOf = ({ apiKey }: Tenant) =>
  json({ type: 'connection_init', payload: { Authorization: `Bearer ${apiKey}` } });

/** Opens a WebSocket and authenticates. */
async function connect(at: TestApp, tenant: Tenant) {
  const opened = await openRawWebSocket(at.url);
  opened.write(initOf(tenant));
  expect(JSON.parse(await opened.message())).toEqual({ type: 'connection_ack' });
  return opened;
}

/** Writes the same bytes until the server closes the connection. @returns how it does. */
async function flood({ socket, write, closed }: RawWebSocket, bytes: Buffer) {
  let outcome: string | undefined;
  void closed.then((reason) => {
    outcome = reason;
  });
  while (outcome === undefined) {
    write(bytes);
    if (socket.writableNeedDrain) await Promise.race([once(socket, 'drain'), closed]);
    await new Promise(setImmediate);
  }
  return outcome;
}

describe('the bytes of a WebSocket before its acknowledgement', () => {
  const CLOSED = '4400 Invalid message received';

  test.each([
    ['one frame that has not ended', [headerOfLongFrame(MEBIBYTE), 'x'.repeat(16 * KIBIBYTE)]],
    [
      'a message that has not ended',
      Array.from({ length: 17 }, (_, index) =>
        frame('x'.repeat(KIBIBYTE), { opcode: index ? CONTINUATION : 1, isFinal: false }),
      ),
    ],
    [
      'several messages in all',
      Array.from({ length: 17 }, () =>
        json({ type: 'ping', payload: { text: 'x'.repeat(KIBIBYTE) } }),
      ),
    ],
  ])('are 16 KiB at most: %s', async (_what, pieces) => {
    const { write, closed } = await openRawWebSocket(app.url);
    for (const piece of pieces) write(Buffer.from(piece));
    expect(await closed).toBe(CLOSED);
  });
});

describe('an unfinished message', () => {
  test('counts against the memory of the bodies of its account', async () => {
    const tenant = await app.tenant();
    const other = await app.tenant();
    const half = Buffer.concat([headerOfLongFrame(MEBIBYTE - 1), Buffer.alloc(960 * KIBIBYTE)]);
    const held: RawWebSocket[] = [];
    let outcome: string | undefined;
    while (outcome === undefined && held.length < 40) {
      const opened = await connect(app, tenant);
      held.push(opened);
      void opened.closed.then((reason) => {
        outcome = reason;
      });
      opened.write(half);
      await expect
        .poll(() => outcome !== undefined || opened.socket.writableLength === 0)
        .toBe(true);
    }
    await expect.poll(() => outcome).toBe('4429 Too many messages in transit');
    const { write, message } = await connect(app, other);
    write(json({ type: 'ping' }));
    expect(JSON.parse(await message())).toEqual({ type: 'pong' });
    for (const { socket } of held) socket.destroy();
    await expect
      .poll(async () => {
        const { errors } = await app.graphql(tenant.apiKey, `{ __typename } # ${'x'.repeat(9e5)}`);
        return errors;
      })
      .toBeUndefined();
  });

  test.each([
    ['before the acknowledgement', openRawWebSocket],
    ['after it', async (_url: string, at: TestApp) => connect(at, await at.tenant())],
  ])('has a limited time to arrive, %s', async (_when, open) => {
    const limited = await startApp({ connectionLimits: { requestMs: 1_000 } });
    const { write, closed } = await open(limited.url, limited);
    write(frame('{', { isFinal: false }));
    // The whole frames between do not extend the time.
    write(frame('', { opcode: PING }));
    expect(await closed).toBe('4408 Message timeout');
  });
});

describe('a flood', () => {
  test.each([
    ['pings', frame('', { opcode: PING })],
    ['pongs with data', frame('x', { opcode: 10 })],
    ['empty frames', frame('', { opcode: CONTINUATION, isFinal: false })],
    ['small messages', json({ type: 'pong' })],
  ])('of %s closes the connection', async (what, bytes) => {
    const opened = await connect(app, await app.tenant());
    if (what === 'empty frames') opened.write(frame('', { isFinal: false }));
    const many = Buffer.concat(Array.from({ length: 2_000 }, () => bytes));
    expect(await flood(opened, many)).toBe('4429 Too many frames');
  });

  test('is not a ping for each second of a minute', async () => {
    const { write, message, closed } = await connect(app, await app.tenant());
    write(Buffer.concat(Array.from({ length: 60 }, () => frame('', { opcode: PING }))));
    write(json({ type: 'ping' }));
    expect(await Promise.race([message(), closed])).toBe('{"type":"pong"}');
  });
});

describe('an operation over a WebSocket', () => {
  test.each([1, 7, 1_000])('arrives in pieces of %i bytes', async (size) => {
    const { write, message } = await openRawWebSocket(app.url);
    write(initOf(await app.tenant()), size);
    expect(JSON.parse(await message())).toEqual({ type: 'connection_ack' });
    const query = `{ __typename } # ${'ü'.repeat(1_500)}`;
    write(json({ id: '1', type: 'subscribe', payload: { query } }), size);
    expect(JSON.parse(await message())).toMatchObject({
      type: 'next',
      payload: { data: { __typename: 'Query' } },
    });
  });
});

describe('many WebSockets', () => {
  test('of one address without a key leave room for others, also if their first message never ends', async () => {
    const begin = initOf(await app.tenant()).subarray(0, 20);
    const sockets = Array.from({ length: 1_000 }, () => openSocket(app.url).resume());
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    let open = sockets.length;
    for (const socket of sockets) {
      socket.once('end', () => socket.end());
      socket.once('close', () => {
        open -= 1;
      });
      socket.write(requestText('GET /graphql/ws', UPGRADE));
      for (const byte of begin) socket.write(Buffer.from([byte]));
    }
    const { write, message } = await connect(app, await app.tenant());
    write(json({ type: 'ping' }));
    expect(JSON.parse(await message())).toEqual({ type: 'pong' });
    await expect.poll(() => open).toBeLessThanOrEqual(256);
  });

  test('of one account that send 1,000 pings each at once are all answered', async () => {
    const tenant = await app.tenant();
    const other = await connect(app, await app.tenant());
    const pings = Buffer.concat(Array.from({ length: 1_000 }, () => json({ type: 'ping' })));
    const flooding = await Promise.all(Array.from({ length: 8 }, () => connect(app, tenant)));
    for (const { write } of flooding) write(pings);
    const all = flooding.map(async ({ message }) => {
      for (let count = 0; count < 1_000; count += 1)
        expect(await message()).toBe('{"type":"pong"}');
    });
    other.write(json({ type: 'ping' }));
    expect(JSON.parse(await other.message())).toEqual({ type: 'pong' });
    await Promise.all(all);
  });
});

describe('a WebSocket', () => {
  const PONG = frame('', { opcode: 10 });

  test('stays open while its client answers pings, and is terminated if one is not answered', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { socket, write, message } = await connect(app, await app.tenant());
    const ended = once(socket, 'end');
    const ping = once(socket, 'data');
    await vi.advanceTimersByTimeAsync(12_000);
    expect((await ping)[0]).toEqual(Buffer.from([0x89, 0]));
    write(PONG);
    // The answer shows that the server has read the pong before it.
    write(json({ type: 'ping' }));
    expect(JSON.parse(await message())).toEqual({ type: 'pong' });
    await vi.advanceTimersByTimeAsync(12_000);
    write(json({ type: 'ping' }));
    expect(JSON.parse(await message())).toEqual({ type: 'pong' });
    await vi.advanceTimersByTimeAsync(12_000);
    await ended;
  });
});
