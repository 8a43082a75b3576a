import { type Deadline, startDeadline } from './deadline.ts';
import { ConnectionError, ParleyError, RateLimitError, RunError } from './errors.ts';

const FIRST_MS = 500;
const MAX_MS = 8_000;

/**
 * The time to wait before a retry: exponential backoff with full jitter, on top of the `Retry-After` of the response.
 * Source: "Exponential Backoff And Jitter", AWS Architecture Blog.
 *
 * @param failures failed attempts since the last success, beginning with 0.
 * @param retryAfter in seconds.
 * @param random a number from 0 to 1.
 * @returns milliseconds.
 */
export function retryDelay(failures: number, retryAfter = 0, random = Math.random()): number {
  return retryAfter * 1_000 + random * Math.min(MAX_MS, FIRST_MS * 2 ** failures);
}

/** Whether the same request may succeed later. A run that failed never counts: a retry would start another run. */
function isRetryable(error: unknown): error is ParleyError {
  if (!(error instanceof ParleyError) || error instanceof RunError) return false;
  return (
    error instanceof ConnectionError ||
    error instanceof RateLimitError ||
    error.code === 'internal_error' ||
    (error.status !== undefined && error.status > 501 && error.status < 505)
  );
}

/**
 * Waits before a retry.
 *
 * @throws the error if there is no retry or the deadline is earlier, or the signal's reason if it is aborted.
 */
export async function waitToRetry(
  error: unknown,
  failures: number,
  maxRetries: number,
  { signal, left }: Deadline,
): Promise<void> {
  signal.throwIfAborted();
  if (failures >= maxRetries || !isRetryable(error)) throw error;
  const ms = retryDelay(failures, error instanceof RateLimitError ? error.retryAfter : 0);
  if (ms > left()) throw error;
  const wait = startDeadline(ms, [signal]);
  await new Promise((resolve) => wait.signal.addEventListener('abort', resolve));
  wait.stop();
  signal.throwIfAborted();
}
