import { startDeadline } from '../async/deadline.ts';
import { startPeriodic } from '../async/periodic.ts';
import type { PubSub } from './pubsub.ts';

/** The poll interval without notifications: a notification may be lost. */
const POLL_EVERY_MS = 1_000;

/**
 * Yields whenever the caller must poll: at once, at each notification on the channel, and every second. Returns when
 * the signal aborts or the limit passes. A notification during a poll causes another poll.
 *
 * @param limitMs how long to wait; for ever by default.
 */
export async function* pollOnNotify(
  pubsub: PubSub,
  channel: string,
  signal: AbortSignal,
  limitMs?: number,
): AsyncGenerator<void, void> {
  using deadline = limitMs === undefined ? undefined : startDeadline(limitMs, { signal });
  const { signal: end } = deadline ?? { signal };
  let due = Promise.withResolvers<void>();
  const wake = () => due.resolve();
  await using _interval = startPeriodic(wake, { everyMs: POLL_EVERY_MS });
  const unsubscribe = pubsub.subscribe(channel, wake);
  end.addEventListener('abort', wake);
  try {
    while (!end.aborted) {
      due = Promise.withResolvers();
      yield;
      await due.promise;
    }
  } finally {
    unsubscribe();
    end.removeEventListener('abort', wake);
  }
}
