import { startDeadline, untilAborted } from '../async/deadline.ts';
import { isOutage } from '../errors/outage.ts';

/** How long a request retries a statement in an outage, so that its client gets a response within 10 seconds. */
export const REQUEST_LIMIT_MS = 7_000;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;
const MANY_ATTEMPTS = 600;
const LONG_PAUSE_MS = 60_000;

export type RetryOptions = {
  /** Which errors to retry: database outages by default. */
  when?: (error: unknown) => boolean;
  /** Called with the error of each attempt that another one follows, and the number of that attempt. */
  onFailure?: (error: unknown, attempt: number) => void;
  /** How long to wait for the result; no limit by default. The result of an attempt that still runs then is ignored. */
  limitMs?: number;
  /** Stops the retries and throws the last error. */
  signal?: AbortSignal | undefined;
  /** Whether no request waits for the work. Then the pause grows to 1 minute after 600 attempts. */
  isBackground?: boolean;
};

/**
 * Retries work until it succeeds. The work must be safe to repeat. The pause doubles from 50 ms to 1 second, minus a
 * random part of up to a half. A pause does not keep the process alive.
 *
 * @param work receives the number of the attempt, from 1.
 * @throws the last error of the work.
 */
export async function retry<T>(
  work: (attempts: number) => PromiseLike<T>,
  { when = isOutage, onFailure, limitMs, signal, isBackground = false }: RetryOptions = {},
): Promise<T> {
  let lastError: unknown = new Error('Connection terminated: no answer within the limit.');

  const run = async (limit?: AbortSignal) => {
    const isOver = () => signal?.aborted || limit?.aborted;
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await work(attempts);
      } catch (error) {
        lastError = error;
        if (isOver() || !when(error)) throw error;
        onFailure?.(error, attempts);
      }
      const maxPauseMs = isBackground && attempts >= MANY_ATTEMPTS ? LONG_PAUSE_MS : MAX_PAUSE_MS;
      await pause(pauseAfter(attempts, maxPauseMs), signal);
      if (isOver()) throw lastError;
    }
  };

  if (limitMs === undefined) return run();
  using deadline = startDeadline(limitMs, { reason: () => lastError });
  return await untilAborted(run(deadline.signal), deadline.signal);
}

/** For `when`: retries outages within `REQUEST_LIMIT_MS` but, unlike `limitMs`, lets a slow attempt finish. */
export function withinRequest(): (error: unknown) => boolean {
  const startedAt = performance.now();
  return (error) => isOutage(error) && performance.now() - startedAt < REQUEST_LIMIT_MS;
}

/** Retries the work of a request in an outage, for at most `REQUEST_LIMIT_MS`. A slow attempt may finish. */
export function retryInRequest<T>(work: (attempts: number) => PromiseLike<T>): Promise<T> {
  return retry(work, { when: withinRequest() });
}

/** @returns milliseconds. */
function pauseAfter(attempts: number, maxMs: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), maxMs) * (1 - Math.random() / 2);
}

/** Ends early when the signal is aborted. A deadline would keep the process alive. */
function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds).unref();
    signal?.addEventListener('abort', end);
  });
}
