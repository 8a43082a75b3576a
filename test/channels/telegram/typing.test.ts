import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { TelegramError } from '../../../src/channels/telegram/error.ts';
import { startTyping } from '../../../src/channels/telegram/typing.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A bot that fails its first calls with these errors, and notes the seconds of all calls. */
function setUp(...errors: TelegramError[]) {
  const calls: number[] = [];
  const begun = performance.now();
  const bot = {
    async type() {
      calls.push((performance.now() - begun) / 1_000);
      const error = errors.shift();
      if (error) throw error;
    },
  };
  return { calls, typing: startTyping(bot, { chatId: 1 }, new AbortController().signal) };
}

describe('the sign that the bot is typing', () => {
  test('is shown again before Telegram removes it, until its end', async () => {
    const { calls, typing } = setUp(new TelegramError('unreachable'));
    await vi.advanceTimersByTimeAsync(9_000);
    await typing[Symbol.asyncDispose]();
    await vi.advanceTimersByTimeAsync(9_000);
    expect(calls).toEqual([0, 4, 8]);
  });

  test('pauses as long as Telegram asks for', async () => {
    const { calls, typing } = setUp(new TelegramError('too-many', { retryAfterS: 10 }));
    await vi.advanceTimersByTimeAsync(17_000);
    await typing[Symbol.asyncDispose]();
    expect(calls).toEqual([0, 12, 16]);
  });
});
