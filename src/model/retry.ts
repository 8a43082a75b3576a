import OpenAI from 'openai';
import { FilteredAnswer, RefusedRequest, ReportedError, SpentAnswer } from './failure.ts';
import { TooLong } from './pieces.ts';

/** The longest delay that a server may request. */
const MAX_DELAY_MS = 20_000;

/** Whether a retry of the same call may succeed. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof OpenAI.APIUserAbortError || error instanceof TooLong) return false;
  if (error instanceof FilteredAnswer || error instanceof SpentAnswer) return false;
  if (error instanceof RefusedRequest) return isTransient(error.status);
  if (error instanceof ReportedError) return isTransient(error.problem.status ?? 500);
  return true;
}

function isTransient(status: number): boolean {
  return [408, 409, 425, 429].includes(status) || status >= 500;
}

/**
 * The delay before a retry, from `retry-after-ms` or `Retry-After` in seconds or as a date.
 *
 * @param defaultMs the delay if the server requests none.
 * @returns `undefined` for a delay of more than 20 seconds.
 */
export function retryDelay(
  error: unknown,
  defaultMs: number,
  now = Date.now(),
): number | undefined {
  const headers = error instanceof RefusedRequest ? error.headers : undefined;
  const after = headers?.get('retry-after') ?? '';
  const requested = [
    Number(headers?.get('retry-after-ms') || Number.NaN),
    after === '' ? Number.NaN : Number(after) * 1_000,
    Date.parse(after) - now,
  ].find((delay) => Number.isFinite(delay));
  if (requested === undefined || requested < 0) return defaultMs;
  return requested > MAX_DELAY_MS ? undefined : requested;
}
