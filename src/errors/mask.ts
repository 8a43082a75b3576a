import { GatewayError } from './errors.ts';
import { isOutage, isUnstorable } from './outage.ts';

/** When to try again after an outage of the database. */
export const OUTAGE_SECONDS = 5;
const OUTAGE =
  'The database did not respond in time. A requested change may or may not have been made. Try again in a few seconds.';

/**
 * The masking rule: a `GatewayError` passes. Every other error becomes `internal_error` and keeps its cause for the log,
 * except text that PostgreSQL cannot store, which only the request can contain.
 */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (isUnstorable(error)) {
    return new GatewayError(
      'invalid_request',
      'The request contains the character U+0000, which cannot be stored.',
    );
  }
  return isOutage(error)
    ? new GatewayError('internal_error', OUTAGE, { cause: error, retryAfter: OUTAGE_SECONDS })
    : new GatewayError('internal_error', 'Something went wrong on our side.', { cause: error });
}
