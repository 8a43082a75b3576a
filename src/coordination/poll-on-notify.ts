import { startDeadline } from '../async/deadline.ts';
import { startPeriodic } from '../async/periodic.ts';
import type { PubSub } from './pubsub.ts';

type Options = {
  /** How long to wait; for ever by default. */
  limitMs?: number;
  /** The poll interval without notifications: a notification may be lost. One second by default; null: notifications only. */
  everyMs?: number | null;
};

/**
 * Yields whenever the caller must poll: at once, at each notification on the channel, and at intervals. Returns when
 * the signal aborts or the limit passes. A notification during a poll causes another poll.
 */
export async function* pollOnNotify(
  pubsub: PubSub,
  channel: string,
  signal: AbortSignal,
  { limitMs, everyMs = 1_000 }: Options = {},
): AsyncGenerator<void, void> {
  using deadline = limitMs === undefined ? undefined : startDeadline(limitMs, { signal });
  const { signal: end } = deadline ?? { signal };
  let due = Promise.withResolvers<void>();
  const wake = () => due.resolve();
  await using _interval = everyMs === null ? null : startPeriodic(wake, { everyMs });
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
