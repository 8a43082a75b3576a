import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../src/errors/errors.ts';
import { createArrivingBody } from '../../src/transport/arriving-body.ts';
import { createBodyMemory } from '../../src/transport/body-memory.ts';

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const limits = { owner: { kind: 'account', id: 'one' }, maxBytes: MEBIBYTE } as const;

/** A body whose socket is not connected. */
function open({
  headers = {},
  proceed,
}: {
  headers?: IncomingMessage['headers'];
  proceed?: () => void;
} = {}) {
  const socket = new Socket();
  const response = { closed: false };
  const memory = createBodyMemory();
  const sizes: number[] = [];
  const calls: string[] = [];
  const body = createArrivingBody({
    request: { headers, socket },
    response,
    memory: {
      open(owner) {
        const held = memory.open(owner);
        return {
          resize(bytes) {
            held.resize(bytes);
            sizes.push(bytes);
          },
        };
      },
    },
    reads: {
      pause: () => calls.push('pause'),
      resume: () => calls.push('resume'),
      slow: () => calls.push('slow'),
    },
    proceed,
  });
  const send = (text: string, size: number) => {
    for (let start = 0; start < text.length; start += size) {
      body.receive(Buffer.from(text.slice(start, start + size)));
    }
  };
  return { body, socket, response, sizes, calls, send };
}

const text = (length: number) => Array.from({ length }, (_, index) => index % 10).join('');

describe('a body', () => {
  test.each([1, 7, 1_000, MEBIBYTE])('arrives whole in pieces of %i bytes', async (size) => {
    const { body, send } = open();
    send(text(10_001), size);
    const read = body.read(limits);
    send(text(20_000), size);
    body.end();
    expect(String(await read)).toBe(text(10_001) + text(20_000));
    expect(body.isArriving()).toBe(false);
  });

  test.each([1, 7, 1_000])('of 1 MiB holds at most 2 MiB in pieces of %i bytes', async (size) => {
    const { body, send, sizes } = open();
    const read = body.read(limits);
    send('x'.repeat(MEBIBYTE), size);
    body.end();
    expect(await read).toHaveLength(MEBIBYTE);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2 * MEBIBYTE);
    // The buffer grows by doubling, so that the bytes are copied a few times only.
    expect(sizes.length).toBeLessThan(30);
    expect(sizes.at(-1)).toBe(0);
  });

  test('in one piece is not copied', async () => {
    const { body } = open();
    const piece = Buffer.from('{}');
    body.receive(piece);
    body.end();
    expect((await body.read(limits)).buffer).toBe(piece.buffer);
  });

  test('is held to 16 KiB until it is read', async () => {
    const { body, calls, send } = open();
    send('x'.repeat(16 * KIBIBYTE - 1), 1_000);
    expect(calls).toEqual([]);
    send('x', 1);
    expect(calls).toEqual(['pause']);
    const read = body.read(limits);
    expect(calls).toEqual(['pause', 'resume']);
    send('x', 1);
    body.end();
    expect(await read).toHaveLength(16 * KIBIBYTE + 1);
  });

  test('is asked for once it is read, if its client waits for that', async () => {
    let asked = 0;
    const { body, send } = open({
      proceed: () => {
        asked += 1;
      },
    });
    expect(body.isArriving()).toBe(false);
    const read = body.read(limits);
    expect(asked).toBe(1);
    expect(body.isArriving()).toBe(true);
    send('{}', 1);
    body.end();
    expect(String(await read)).toBe('{}');
  });

  test.each([
    ['declares', { 'content-length': '1048577' }, 0],
    ['has sent', {}, MEBIBYTE + 1],
  ])('that %s too many bytes is refused, and frees its memory', async (_how, headers, sent) => {
    const { body, send, sizes } = open({ headers });
    send('x'.repeat(sent), 64 * KIBIBYTE);
    await expect(body.read(limits)).rejects.toMatchObject({
      code: 'request_too_large',
      message: 'The body is larger than 1 MiB. Send a smaller one.',
    });
    expect(sizes.at(-1)).toBe(0);
  });

  test('that grows too large is refused at once, and frees its memory', async () => {
    const { body, send, sizes } = open();
    const read = body.read({ ...limits, maxBytes: 64 * KIBIBYTE });
    send('x'.repeat(64 * KIBIBYTE), 1_000);
    send('x', 1);
    await expect(read).rejects.toMatchObject({
      code: 'request_too_large',
      message: 'The body is larger than 64 KiB. Send a smaller one.',
    });
    expect(sizes.at(-1)).toBe(0);
    expect(body.isArriving()).toBe(true);
  });

  test('that exceeds the memory of its owner is refused', async () => {
    const { body, send } = open();
    const read = body.read({ owner: { kind: 'address', id: 'one' }, maxBytes: 8 * MEBIBYTE });
    send('x'.repeat(5 * MEBIBYTE), MEBIBYTE);
    await expect(read).rejects.toMatchObject({ code: 'rate_limit_exceeded', retryAfter: 1 });
  });

  test.each([
    ['before', true],
    ['while', false],
  ])('that breaks off %s it is read fails with the reason', async (_when, isBefore) => {
    const { body, send, sizes } = open();
    const reason = new GatewayError('invalid_request', 'The request did not arrive in time.');
    send('x', 1);
    if (isBefore) body.breakOff(reason);
    const read = body.read(limits);
    if (!isBefore) body.breakOff(reason);
    await expect(read).rejects.toBe(reason);
    expect(sizes.at(-1)).toBe(0);
    expect(body.isArriving()).toBe(false);
  });

  test('whose response has closed is not read', async () => {
    const { body, send } = open();
    send('x', 1);
    body.drop();
    await expect(body.read(limits)).rejects.toThrow('The client has disconnected.');
  });
});

describe('a body in many small pieces', () => {
  test.each(['unread', 'read'])('is read in turns while it is %s', async (state) => {
    const { body, calls, send } = open();
    const read = state === 'read' ? body.read(limits) : undefined;
    calls.length = 0;
    send('x'.repeat(1_020), 1);
    expect(calls).toEqual([]);
    send('x'.repeat(10), 1);
    expect(new Set(calls)).toEqual(new Set(['slow']));
    calls.length = 0;
    // Larger pieces make up for the small ones.
    send('x'.repeat(10_000), 5_000);
    expect(calls).toEqual([]);
    body.end();
    if (read) expect(await read).toHaveLength(11_030);
  });
});

describe('a refused body', () => {
  test('is received to its end, so that its client reads the response', async () => {
    const { body, calls, send, socket } = open();
    send('x'.repeat(20 * KIBIBYTE), 20 * KIBIBYTE);
    const drained = body.drain();
    expect(calls).toEqual(['pause', 'resume']);
    send('x'.repeat(15 * MEBIBYTE), 64 * KIBIBYTE);
    expect(body.isArriving()).toBe(true);
    body.end();
    await drained;
    expect(socket.destroyed).toBe(false);
  });

  test.each([
    ['of more than 16 MiB', 17 * MEBIBYTE, 64 * KIBIBYTE],
    ['of very many pieces', 2_000, 1],
  ])(
    '%s is not received any more, and its connection is destroyed',
    async (_what, length, size) => {
      const { body, calls, send, socket } = open();
      const drained = body.drain();
      send('x'.repeat(length), size);
      expect(calls.at(-1)).toBe('pause');
      await drained;
      expect(socket.destroyed).toBe(true);
    },
  );

  test('that sends too much after its response has closed ends its connection at once', () => {
    const { body, response, send, socket } = open();
    body.drop();
    response.closed = true;
    send('x'.repeat(1_000), 1);
    expect(socket.destroyed).toBe(false);
    send('x'.repeat(1_000), 1);
    expect(socket.destroyed).toBe(true);
  });
});
