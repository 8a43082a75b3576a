import type { PubSub } from './pubsub.ts';

/** How often one who waits looks by itself: a word may be lost. */
const LOOK_AGAIN_MS = 1_000;

/**
 * When to look whether what one waits for has come: at once, at each word on the channel, and every second; ends
 * when the signal is aborted, or the time is over. A word that comes during a look is followed by another look.
 *
 * @param limitMs how long to wait; for ever by default. The timer ends with the wait: the one of an
 *   `AbortSignal.timeout` would stay until it is over, with all that hangs on its signal.
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
