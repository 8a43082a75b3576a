import { GatewayError } from '../errors.ts';
import type { Context } from '../schema/context.ts';

/** What somebody reads as it comes: a subscription, or a stream of frames. It lasts no longer than its key. */
export type Reading = {
  /**
   * Aborted when the reader has left, when the reading is over, and within a second of the key's end, which is
   * then its reason: a `GatewayError` `invalid_api_key`.
   */
  signal: AbortSignal;
  /** Says that it is over. */
  end(): void;
};

/** @throws GatewayError where the caller has no good key. */
export function beginReading({ caller, keys, signal }: Context): Reading {
  const over = new AbortController();
  const unwatch = keys.watch(caller(), () => over.abort(keyEnded()));
  return {
    signal: AbortSignal.any([signal, over.signal]),
    end() {
      unwatch();
      over.abort();
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
