import type { PubSub } from './pubsub.ts';

/** Of a reader who is slow, so many messages are kept; those that came first go. */
const MAX_PENDING = 1_000;

/**
 * The messages of a channel, until the signal is aborted. One that comes again while the reader is busy is read
 * once, so that a slow reader gets the latest of each and not all that was missed.
 */
export async function* latest(
  pubsub: PubSub,
  channel: string,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  const pending = new Set<string>();
  let wake = () => {};
  const unsubscribe = pubsub.subscribe(channel, (message) => {
    pending.delete(message);
    pending.add(message);
    const [first] = pending;
    if (pending.size > MAX_PENDING && first !== undefined) pending.delete(first);
    wake();
  });
  const onAbort = () => wake();
  signal.addEventListener('abort', onAbort);
  try {
    while (!signal.aborted) {
      for (const message of pending) {
        pending.delete(message);
        yield message;
        if (signal.aborted) return;
      }
      if (pending.size === 0 && !signal.aborted)
        await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', onAbort);
  }
}
