import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../errors.ts';

/** The largest body of a request. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** Bytes of bodies that are on their way at the same time, for one account. */
export const ACCOUNT_BODY_BYTES = 32 * MAX_BODY_BYTES;
/** The same for one address, of requests without a valid key. */
export const ADDRESS_BODY_BYTES = 4 * MAX_BODY_BYTES;

/**
 * Reserves memory for a request's body until it has arrived, or its answer has ended. A body that does not tell its length may be
 * as large as any.
 *
 * @param owner whose requests share the budget.
 * @param budget in bytes.
 * @throws GatewayError `rate_limit_exceeded` where the budget has no room for it.
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
        'Too many request bodies are on their way. Send this one when others have arrived.';
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
    // A body that breaks off has no end, and no other event of its own.
    answer.once('close', release);
  };
}
