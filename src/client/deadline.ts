import { TimeoutError } from './errors.ts';

/** A signal with a time limit. */
export type Deadline = {
  signal: AbortSignal;
  /** Milliseconds until the time is over. */
  left(): number;
  /** Starts the time limit again. */
  restart(): void;
  /** Suspends the time limit. */
  pause(): void;
  /** Releases the timer and the listeners. */
  stop(): void;
  /** Aborts the signal, and stops. */
  abort(): void;
};

/** Longer times make `setTimeout` fire at once, so they count as no limit. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Starts a deadline.
 *
 * @param parents signals that also abort the deadline's signal, with their own reasons.
 * @param reasonFor creates the reason of the abort when the time is over.
 */
export function startDeadline(
  milliseconds: number,
  parents: readonly (AbortSignal | undefined)[] = [],
  reasonFor: (milliseconds: number) => unknown = (ms) => new TimeoutError(ms),
): Deadline {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let startedAt = 0;
  const pause = () => clearTimeout(timer);
  const restart = () => {
    pause();
    startedAt = Date.now();
    if (milliseconds > MAX_TIMER_MS || controller.signal.aborted) return;
    timer = setTimeout(() => controller.abort(reasonFor(milliseconds)), milliseconds);
  };
  const follow = () => {
    const aborted = parents.find((parent) => parent?.aborted);
    if (aborted) controller.abort(aborted.reason);
  };
  for (const parent of parents) parent?.addEventListener('abort', follow);
  follow();
  restart();
  const stop = () => {
    pause();
    for (const parent of parents) parent?.removeEventListener('abort', follow);
  };
  return {
    signal: controller.signal,
    left: () => startedAt + milliseconds - Date.now(),
    restart,
    pause,
    stop,
    abort() {
      stop();
      controller.abort();
    },
  };
}
