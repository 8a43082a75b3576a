import type { PubSub } from './pubsub.ts';

/** The poll interval without notifications: a notification may be lost. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Yields whenever the caller must poll: at once, at each notification on the channel, and every second. Returns when
 * the signal aborts or the limit passes. A notification during a poll causes another poll.
 *
 * @param limitMs how long to wait; for ever by default. Use it instead of `AbortSignal.timeout`, whose timer would keep
 *   the signal's listeners in memory after the wait.
 */
export async function* looks(
  pubsub: PubSub,
  channel: string,
  signal: AbortSignal,
  limitMs?: number,
): AsyncGenerator<void, void> {
  let word = Promise.withResolvers<void>();
  let isOver = false;
  const look = () => word.resolve();
  const giveUp = () => {
    isOver = true;
    look();
  };
  const unsubscribe = pubsub.subscribe(channel, look);
  const timer = setInterval(look, LOOK_AGAIN_MS);
  const limit = limitMs === undefined ? undefined : setTimeout(giveUp, limitMs);
  signal.addEventListener('abort', look);
  try {
    while (!signal.aborted && !isOver) {
      word = Promise.withResolvers();
      yield;
      await word.promise;
    }
  } finally {
    unsubscribe();
    clearInterval(timer);
    clearTimeout(limit);
    signal.removeEventListener('abort', look);
  }
}
