import type { Caller } from '../accounts/caller.ts';
import { CONCURRENCY_LIMITS, createConcurrencyLimit } from '../accounts/concurrency-limit.ts';
import { GatewayError } from '../errors.ts';
import type { Context } from '../schema/context.ts';

/**
 * Reserves a slot among the open streams of the caller's account in this process.
 *
 * @returns releases the slot.
 * @throws GatewayError `rate_limit_exceeded` when the account has as many as its plan allows.
 */
export type AcquireStream = (caller: Caller) => () => void;

export function createStreamLimit(): AcquireStream {
  const acquireSlot = createConcurrencyLimit(
    (max) => `This account has ${max} open streams, the limit of its plan. Close one of them.`,
  );
  return ({ account: { id, plan } }) => acquireSlot(id, CONCURRENCY_LIMITS[plan].streams);
}

/** What somebody reads as it comes: a subscription, or a stream of frames. It lasts no longer than its key. */
export type Reading = {
  /**
   * Aborted when the reader has left, when the reading is over, and within a second of the key's end, which is
   * then its reason: a `GatewayError` `invalid_api_key`.
   */
  signal: AbortSignal;
  /** Says that it is over; with a reason that it ends early, which its reader is to be told. */
  end(reason?: GatewayError): void;
};

/** Why a reading has ended that came to its end; made once, because making one costs something. */
const OVER = new DOMException('The reading is over.', 'AbortError');

/** @throws GatewayError where the caller has no good key. */
export function beginReading({ caller, keys, signal }: Context): Reading {
  const over = new AbortController();
  const unwatch = keys.watch(caller(), () => over.abort(keyEnded()));
  return {
    signal: AbortSignal.any([signal, over.signal]),
    end(reason) {
      unwatch();
      over.abort(reason ?? OVER);
    },
  };
}

/** Why a reading has ended early, where its reader is to be told. */
export function refusalIn({ reason }: AbortSignal): GatewayError | undefined {
  return reason instanceof GatewayError ? reason : undefined;
}

function keyEnded(): GatewayError {
  return new GatewayError('invalid_api_key', 'This API key is not valid any more.');
}
