import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type ClientOptions, Parley } from '../../src/client/index.ts';

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const frame = (value: object, seq?: number) =>
  `${seq === undefined ? '' : `id: ${seq}\n`}data: ${JSON.stringify(value)}\n\n`;
const text = (delta: string, seq?: number) => frame({ delta }, seq);
const failed = (code: string, seq?: number) =>
  frame({ event: 'error', delta: '', error: { code, message: 'No.', request_id: 'req_1' } }) +
  frame({ event: 'done', run_id: 'run_1', latency_ms: 1, status: 'failed' }, seq);
const started = frame({ event: 'run_started', delta: '', run_id: 'run_1', session_id: 's' }, 1);
const done = (seq?: number) => frame({ event: 'done', run_id: 'run_1', latency_ms: 1 }, seq);

type Connection = {
  /** The response's body, in the pieces that arrive. */
  pieces: (string | Uint8Array)[];
  /** What follows the pieces: the connection breaks or stays silent. It ends by default. */
  end?: 'break' | 'silence' | 'pings';
};

/** A client whose server gives these streams in order. */
function clientOf(connections: Connection[], options: ClientOptions = {}) {
  const requests: { path: string; lastEventId: string | null }[] = [];
  const parley = new Parley({
    apiKey: 'parley_sk_test',
    async fetch(url, init) {
      const { signal } = init ?? {};
      signal?.throwIfAborted();
      const lastEventId = new Headers(init?.headers).get('last-event-id');
      requests.push({ path: new URL(String(url)).pathname, lastEventId });
      const { pieces, end } = connections.shift() ?? { pieces: [] };
      const left = pieces.map((piece) =>
        typeof piece === 'string' ? new TextEncoder().encode(piece) : piece,
      );
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const piece = left.shift();
          if (piece) return controller.enqueue(piece);
          if (end === undefined) return controller.close();
          if (end === 'break') return controller.error(new TypeError('terminated'));
          await new Promise((resolve) => {
            signal?.addEventListener('abort', resolve);
            if (end === 'pings') setTimeout(resolve, 15_000);
          });
          if (signal?.aborted) return controller.error(signal.reason);
          controller.enqueue(new TextEncoder().encode(': ping\n\n'));
        },
      });
      return new Response(body, { headers: { 'x-run-id': 'run_1' } });
    },
    ...options,
  });
  const stream = parley.chatStream('demo', { message: 'Hi' });
  return { parley, stream, requests };
}

const CHAT = { path: '/v1/bots/demo/chat', lastEventId: null };
const EVENTS = { path: '/v1/bots/demo/runs/run_1/events', lastEventId: null };

describe('a stream', () => {
  test('is read with any chunks, line ends and comments', async () => {
    const bytes = new TextEncoder().encode(
      `: ping\n\n${text('Grüße ')}: ping\r\n\r\ndata:{"delta":\r\ndata: "👋"}\r\nretry: 1\r\n\r\n${done()}`,
    );
    const { stream } = clientOf([{ pieces: Array.from(bytes, (byte) => Uint8Array.of(byte)) }]);
    expect(await Array.fromAsync(stream)).toEqual(['Grüße ', '👋']);
  });

  test('keeps text with the line separators of Unicode, which end no line of a stream', async () => {
    const pieces = [text('one\u2028'), text('two\u2029'), text('three\u0085'), done()];
    const { stream } = clientOf([{ pieces }]);
    expect(await Array.fromAsync(stream)).toEqual(['one\u2028', 'two\u2029', 'three\u0085']);
  });

  test('resumes by the events of its run, from the start and then after the last one', async () => {
    const { stream, requests } = clientOf([
      { pieces: [text('One '), text('two '), 'data: {"delta":"th'], end: 'break' },
      { pieces: [started, text('One ', 2), text('two th', 3)], end: 'break' },
      { pieces: [text('ree', 4), done(5)] },
    ]);
    expect((await Array.fromAsync(stream)).join('')).toBe('One two three');
    expect(requests).toEqual([CHAT, EVENTS, { ...EVENTS, lastEventId: '3' }]);
  });

  test('ends with an error after as many connections as it may retry without a new event', async () => {
    const cut: Connection = { pieces: [started, text('One', 2)], end: 'break' };
    const { stream, requests } = clientOf([
      { pieces: [text('One')], end: 'break' },
      cut,
      { pieces: [] },
      { pieces: ['data: {"del'], end: 'break' },
      { pieces: [done(3)] },
    ]);
    await expect(Array.fromAsync(stream)).rejects.toMatchObject({ name: 'ConnectionError' });
    expect(requests.length).toBe(4);
    expect(stream.runId).toBe('run_1');
  });

  test('connects again after a minute of silence', async () => {
    vi.useFakeTimers();
    const { stream, requests } = clientOf([
      { pieces: [text('One ')], end: 'silence' },
      { pieces: [started, text('One ', 2), text('two', 3), done(4)] },
    ]);
    const deltas = Array.fromAsync(stream);
    await vi.advanceTimersByTimeAsync(59_999);
    expect(requests.length).toBe(1);
    await vi.advanceTimersByTimeAsync(2);
    expect(await deltas).toEqual(['One ', 'two']);
    expect(requests).toEqual([CHAT, EVENTS]);
  });

  test('ends when no event arrives in its time, although the server is alive', async () => {
    vi.useFakeTimers();
    const { stream } = clientOf([{ pieces: [text('One')], end: 'pings' }]);
    const error = Array.fromAsync(stream).catch((reason) => reason);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(await error).toMatchObject({ name: 'TimeoutError', code: 'timeout' });
  });

  test('waits for a slow reader', async () => {
    vi.useFakeTimers();
    const { stream } = clientOf([{ pieces: [text('One '), text('two'), done()] }]);
    const deltas: string[] = [];
    for await (const delta of stream) {
      deltas.push(delta);
      await vi.advanceTimersByTimeAsync(3_600_000);
    }
    expect(deltas).toEqual(['One ', 'two']);
  });

  test('of a run that failed ends with its error', async () => {
    const { stream, requests } = clientOf([{ pieces: [text('One'), failed('model_error')] }]);
    const facts = { name: 'RunError', code: 'model_error', runId: 'run_1', requestId: 'req_1' };
    await expect(Array.fromAsync(stream)).rejects.toMatchObject({ ...facts, message: 'No.' });
    expect(requests.length).toBe(1);
  });

  test('that broke on the side of the server learns from the events how the run ended', async () => {
    const { stream } = clientOf([
      { pieces: [text('One '), failed('internal_error')] },
      { pieces: [started, text('One ', 2), failed('internal_error')] },
      { pieces: [text('two', 3), done(4)] },
    ]);
    expect(await Array.fromAsync(stream)).toEqual(['One ', 'two']);
    const failing = clientOf([
      { pieces: [text('One '), failed('internal_error')] },
      { pieces: [started, text('One ', 2), failed('internal_error', 3)] },
    ]);
    const facts = { name: 'RunError', code: 'internal_error', runId: 'run_1' };
    await expect(Array.fromAsync(failing.stream)).rejects.toMatchObject(facts);
  });

  test('whose key was revoked ends with that error', async () => {
    const { stream } = clientOf([{ pieces: [text('One '), failed('invalid_api_key')] }]);
    const facts = { name: 'AuthenticationError', status: 401, requestId: 'req_1' };
    await expect(Array.fromAsync(stream)).rejects.toMatchObject(facts);
  });
});

describe('the events of a run', () => {
  test('say how it failed, and are no error of their reader', async () => {
    const { parley } = clientOf([{ pieces: [started, failed('model_timeout', 2)] }]);
    const error = { code: 'model_timeout', message: 'No.', requestId: 'req_1' };
    expect(await Array.fromAsync(parley.runEvents('demo', 'run_1'))).toEqual([
      { seq: 1, type: 'run_started', runId: 'run_1', sessionId: 's' },
      { seq: 2, type: 'done', runId: 'run_1', latencyMs: 1, status: 'failed', error },
    ]);
  });
});
