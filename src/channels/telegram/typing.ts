import { startPeriodic } from '../../async/periodic.ts';
import type { Target, TelegramBot } from './api.ts';
import { isTelegramError } from './error.ts';

/** Telegram shows it for 5 seconds. */
const TYPE_EVERY_MS = 4_000;

/** Shows that the bot is typing, until its disposal. Pauses as long as Telegram asks for; other failures are ignored. */
export function startTyping(
  bot: Pick<TelegramBot, 'type'>,
  target: Target,
  signal: AbortSignal,
): AsyncDisposable {
  let allowedAt = 0;
  const type = async (stopped: AbortSignal) => {
    if (performance.now() < allowedAt) return;
    try {
      await bot.type(target, AbortSignal.any([signal, stopped]));
    } catch (error) {
      if (isTelegramError(error, 'too-many'))
        allowedAt = performance.now() + (error.retryAfterS ?? 1) * 1_000;
    }
  };
  return startPeriodic(type, { everyMs: TYPE_EVERY_MS, isImmediate: true });
}
