import type { Caller } from '../accounts/caller.ts';
import { createConcurrencyLimit } from '../accounts/concurrency-limit.ts';
import { GatewayError } from '../errors/errors.ts';
import type { Context } from '../schema/context.ts';
import { PLANS } from '../vocabulary/plans.ts';

/**
 * Reserves one of the stream slots that the caller's account has in this process.
 *
 * @returns a function that releases the slot.
 * @throws GatewayError `rate_limit_exceeded` if the account has as many open streams as its plan allows.
 */
export type AcquireStream = (caller: Caller) => () => void;

export function createStreamLimit(): AcquireStream {
  const acquireSlot = createConcurrencyLimit(
    (max) => `This account has ${max} open streams, the limit of its plan. Close one of them.`,
  );
  return ({ account: { id, plan } }) => acquireSlot(id, PLANS[plan].streams);
}

/** One client's read of a subscription or an event stream. It never outlives its API key. */
export type StreamRead = {
  /**
   * Aborted when the client disconnects, when the read ends, and within a second after the key is revoked or expires.
   * In the last case its reason is a `GatewayError` `invalid_api_key`.
   */
  signal: AbortSignal;
  /** Ends the read. A reason marks an early end, which the transport reports to the client. */
  end(reason?: GatewayError): void;
};

/** The abort reason of a normal end. It is shared, because a DOMException captures a stack. */
const OVER = new DOMException('The reading is over.', 'AbortError');

/** @throws GatewayError if the caller is not authenticated. */
export function beginStreamRead({ caller, keys, signal }: Context): StreamRead {
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

/** The error to report to the client if a read has ended early. */
export function refusalIn({ reason }: AbortSignal): GatewayError | undefined {
  return reason instanceof GatewayError ? reason : undefined;
}

function keyEnded(): GatewayError {
  return new GatewayError('invalid_api_key', 'This API key was revoked or has expired.');
}
