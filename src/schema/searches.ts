import { GatewayError } from '../errors/errors.ts';
import { SEARCH_CONNECTIONS } from '../storage/database.ts';
import { createLongReads, type LongReads } from './long-reads.ts';

/** The longest time that a search waits for the earlier ones of its account, in milliseconds. */
const MAX_WAIT_MS = 10_000;

/**
 * Runs one search of an account after the other, and `SEARCH_CONNECTIONS` in the process.
 *
 * @param now the time in milliseconds, on any clock.
 * @returns a function that throws GatewayError `rate_limit_exceeded` if the search has waited too long when its turn
 *   comes. Searches that waited too long take no time, so that the others are soon next.
 */
export function createSearches(now: () => number = () => performance.now()): LongReads {
  const inTurn = createLongReads(SEARCH_CONNECTIONS);
  return (accountId, signal, search) => {
    const latest = now() + MAX_WAIT_MS;
    return inTurn(accountId, signal, async () => {
      if (now() > latest) throw waitedTooLong();
      return search();
    });
  };
}

function waitedTooLong(): GatewayError {
  const message = `The search waited longer than ${MAX_WAIT_MS / 1_000} seconds for other searches of this account. Send fewer searches at a time, or narrow them.`;
  return new GatewayError('rate_limit_exceeded', message, { retryAfter: 1 });
}
