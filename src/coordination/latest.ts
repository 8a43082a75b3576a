import type { PubSub } from './pubsub.ts';

/** The most pending messages of a slow reader. The oldest are dropped first. */
const MAX_PENDING = 1_000;

/**
 * Yields the messages of a channel until the signal aborts. Equal messages that arrive while the reader is busy are
 * yielded once.
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
