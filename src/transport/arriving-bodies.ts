import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../errors.ts';

/** Maximum size of a request body. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** Bytes of request bodies that one account may have in transit at once. */
export const ACCOUNT_BODY_BYTES = 32 * MAX_BODY_BYTES;
/** Bytes of request bodies without a valid key that one address may have in transit at once. */
export const ADDRESS_BODY_BYTES = 4 * MAX_BODY_BYTES;

/**
 * Reserves memory for a request body until it has arrived or the response has closed. A body without `Content-Length`
 * reserves the maximum size.
 *
 * @param owner the account or address whose requests share the budget.
 * @param budget in bytes.
 * @throws GatewayError `rate_limit_exceeded` if the budget is exhausted.
 */
export type ReserveBody = (
  request: IncomingMessage,
  answer: ServerResponse,
  owner: string,
  budget: number,
) => void;

export function createReserveBody(): ReserveBody {
  const arriving = new Map<string, number>();
  return (request, answer, owner, budget) => {
    const length = Number(request.headers['content-length'] ?? MAX_BODY_BYTES);
    const size = Math.min(length, MAX_BODY_BYTES);
    const others = arriving.get(owner) ?? 0;
    if (others + size > budget) {
      const message =
        'Too many request bodies are in transit. Retry after some of them have arrived.';
      throw new GatewayError('rate_limit_exceeded', message, { retryAfter: 1 });
    }
    arriving.set(owner, others + size);
    let isReserved = true;
    const release = () => {
      if (!isReserved) return;
      isReserved = false;
      const rest = (arriving.get(owner) ?? 0) - size;
      if (rest > 0) arriving.set(owner, rest);
      else arriving.delete(owner);
    };
    request.once('end', release);
    // An aborted body emits no `end`.
    answer.once('close', release);
  };
}
