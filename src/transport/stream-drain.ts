import { setTimeout as delay } from 'node:timers/promises';

/**
 * The streams that stay open until their client or the server ends them: subscriptions over event streams, and WebSockets.
 */
export type OpenStreams = {
  /**
   * @param close ends the stream in a way that lets its client connect again.
   * @returns a function that removes the stream after its end.
   */
  add(close: () => void): () => void;
  /** The functions that close the streams that are open now. Each does nothing if its stream has ended meanwhile. */
  all(): (() => void)[];
};

export function createOpenStreams(): OpenStreams {
  const streams = new Set<{ close: () => void }>();
  return {
    add(close) {
      const stream = { close };
      streams.add(stream);
      return () => void streams.delete(stream);
    },
    all: () =>
      [...streams].map((stream) => () => {
        if (streams.has(stream)) stream.close();
      }),
  };
}

/** Pauses while streams are closed. More would close few of them each. */
const STEPS = 100;

/**
 * Closes streams at an even pace, so that their clients do not all connect to the other replicas at once. The first one
 * closes without a pause, and no pause follows the last one.
 *
 * @param closers each closes one stream.
 * @param withinMs the time between the first and the last one, at most.
 * @param pause waits for some milliseconds.
 */
export async function closeEvenly(
  closers: readonly (() => void)[],
  withinMs: number,
  pause: (ms: number) => Promise<unknown> = delay,
): Promise<void> {
  const steps = Math.min(STEPS, closers.length);
  for (let step = 0; step < steps; step += 1) {
    if (step > 0 && withinMs > 0) await pause(withinMs / steps);
    const end = Math.ceil(((step + 1) * closers.length) / steps);
    for (const close of closers.slice(Math.ceil((step * closers.length) / steps), end)) close();
  }
}
