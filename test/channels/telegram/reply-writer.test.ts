import { describe, expect, test } from 'vitest';
import type { Html } from '../../../src/channels/telegram/api.ts';
import { TelegramError } from '../../../src/channels/telegram/error.ts';
import { startReplyWriter } from '../../../src/channels/telegram/reply-writer.ts';

/** A bot that records its calls, and a clock that only the test advances. */
function setUp(sentIds: number[] = []) {
  const calls: { at: number; call: string; text: string }[] = [];
  const errors: TelegramError[] = [];
  let gate = Promise.resolve();
  let now = 0;
  let pauses: { until: number; resume(): void }[] = [];
  const called = (call: string, text = '') => {
    const error = errors.shift();
    calls.push({ at: now, call: error ? `${call} refused` : call, text });
    if (error) throw error;
  };
  const bot = {
    async send(_target: object, { plain }: Html) {
      called('send', plain);
      await gate;
      return 100 + calls.length;
    },
    edit: async (_target: object, id: number, { plain }: Html) => called(`edit ${id}`, plain),
    remove: async (_target: object, id: number) => called(`remove ${id}`),
  };
  const clock = {
    now: () => now,
    pause: (milliseconds: number, signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        pauses.push({ until: now + milliseconds, resume: resolve });
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
  };
  const stored: number[][] = [];
  const stopped = new AbortController();
  const onSent = async (ids: readonly number[]) => void stored.push([...ids]);
  let untilHeld = async () => {};
  const held = { untilHeld: () => untilHeld(), onSent };
  const reply = { target: { chatId: 1, replyTo: 9 }, sentIds, ...held };
  const writer = startReplyWriter(bot, reply, stopped.signal, clock);
  const settle = async () => {
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  };
  return {
    writer,
    calls,
    stored,
    /** The results of the next calls. */
    refuse: (...kinds: ConstructorParameters<typeof TelegramError>[]) =>
      errors.push(...kinds.map((kind) => new TelegramError(...kind))),
    stop: () => stopped.abort(),
    /** Another process takes the reply over. */
    lose() {
      untilHeld = async () => {
        throw new Error('The reply is written by another process.');
      };
    },
    /** Makes messages wait. @returns a function that sends them. */
    hold() {
      const held = Promise.withResolvers<void>();
      gate = held.promise;
      return held.resolve;
    },
    async advance(milliseconds: number) {
      await settle();
      const end = now + milliseconds;
      for (;;) {
        const next = pauses.toSorted((one, other) => one.until - other.until)[0];
        if (!next || next.until > end) break;
        pauses = pauses.filter((pause) => pause !== next);
        now = Math.max(now, next.until);
        next.resume();
        await settle();
      }
      now = end;
    },
  };
}

describe('the writer of a reply', () => {
  test('does not change a message that another process may have finished', async () => {
    const { writer, calls, advance, lose } = setUp();
    writer.show('One');
    await advance(300);
    lose();
    writer.show('One two');
    await advance(5_000);
    await expect(writer.finish()).rejects.toThrow('another process');
    expect(calls).toEqual([{ at: 300, call: 'send', text: 'One' }]);
  });

  test('edits one message at most once a second as the text grows', async () => {
    const { writer, calls, advance } = setUp();
    for (let length = 1; length <= 50; length += 1) {
      writer.show('x'.repeat(length));
      await advance(100);
    }
    const finished = writer.finish();
    await advance(1_000);
    await finished;
    expect(calls.map(({ call }) => call)).toEqual([
      'send',
      ...Array.from({ length: calls.length - 1 }, () => 'edit 101'),
    ]);
    const gaps = calls.slice(1).map(({ at }, index) => at - (calls[index]?.at ?? 0));
    expect(gaps.every((gap) => gap >= 1_000)).toBe(true);
    expect(calls.length).toBe(6);
    expect(calls.at(-1)?.text).toBe('x'.repeat(50));
  });

  test('sends a short reply as one message', async () => {
    const { writer, calls, stored } = setUp();
    writer.show('Hel');
    writer.show('Hello');
    await writer.finish();
    expect(calls).toEqual([{ at: 0, call: 'send', text: 'Hello' }]);
    expect(stored).toEqual([[101]]);
  });

  test('sends nothing for an empty reply', async () => {
    const { writer, calls } = setUp();
    await writer.finish();
    expect(calls).toEqual([]);
  });

  test('waits as long as Telegram says, and then sends the newest text', async () => {
    const { writer, calls, refuse, advance } = setUp();
    refuse(['too-many', { retryAfterS: 7 }]);
    writer.show('a');
    await advance(1_000);
    writer.show('ab');
    const finished = writer.finish();
    await advance(10_000);
    await finished;
    expect(calls).toEqual([
      { at: 300, call: 'send refused', text: 'a' },
      { at: 7_300, call: 'send', text: 'ab' },
    ]);
  });

  test('leaves a long wait to the queue', async () => {
    const { writer, refuse } = setUp();
    refuse(['too-many', { retryAfterS: 600 }]);
    writer.show('a');
    await expect(writer.finish()).rejects.toMatchObject({ kind: 'too-many', retryAfterS: 600 });
  });

  test('ignores a failed edit, unless it is the edit with the last text', async () => {
    const { writer, calls, refuse, advance } = setUp();
    writer.show('a');
    await advance(300);
    refuse(['unreachable']);
    writer.show('ab');
    await advance(1_000);
    writer.show('abc');
    await advance(1_000);
    expect(calls.map(({ call }) => call)).toEqual(['send', 'edit 101 refused', 'edit 101']);
    refuse(['unreachable']);
    writer.show('abcd');
    const finished = expect(writer.finish()).rejects.toMatchObject({ kind: 'unreachable' });
    await advance(1_000);
    await finished;
  });

  test('continues the messages of an earlier attempt, and removes the unneeded ones', async () => {
    const { writer, calls, advance } = setUp([7, 8]);
    writer.show('short');
    const finished = writer.finish();
    await advance(5_000);
    await finished;
    expect(calls.map(({ call }) => call)).toEqual(['edit 7', 'remove 8']);
  });

  test('continues without a message that its user has deleted', async () => {
    const { writer, calls, refuse } = setUp([7]);
    refuse(['message-gone']);
    writer.show('text');
    await writer.finish();
    expect(calls.map(({ call }) => call)).toEqual(['edit 7 refused']);
  });

  test('stops with its signal', async () => {
    const { writer, refuse, stop, advance } = setUp();
    refuse(['too-many', { retryAfterS: 7 }]);
    writer.show('a');
    await advance(1_000);
    stop();
    await expect(writer.finish()).rejects.toThrow();
  });

  test('sends nothing more once it is disposed of', async () => {
    const { writer, calls, advance } = setUp();
    writer.show('a');
    await advance(100);
    await writer[Symbol.asyncDispose]();
    writer.show('ab');
    await advance(5_000);
    expect(calls).toEqual([]);
  });

  test('waits at its disposal for the message in progress, which it stores', async () => {
    const { writer, calls, stored, hold, advance } = setUp();
    const release = hold();
    writer.show('a');
    await advance(300);
    writer.show('ab');
    let isDisposed = false;
    const disposed = writer[Symbol.asyncDispose]().then(() => {
      isDisposed = true;
    });
    await advance(5_000);
    expect(isDisposed).toBe(false);
    release();
    await disposed;
    expect(stored).toEqual([[101]]);
    await advance(5_000);
    expect(calls.map(({ call }) => call)).toEqual(['send']);
  });
});
