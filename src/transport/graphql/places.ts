import type { Caller } from '../../accounts/caller.ts';
import { GatewayError } from '../../errors.ts';

/** How many of one kind whoever shares a name may have at once. */
export const PLACES = 100;

/**
 * Takes a place among what a caller has of one kind.
 *
 * @returns gives it back; once, however often it is called.
 * @throws GatewayError `rate_limit_exceeded` where there is none.
 */
export type TakePlace = (caller: Caller) => () => void;

/**
 * Pages share the key that made their tokens, and do not crowd each other out: those of a session have places of their
 * own.
 *
 * @param ownerOf whose places they are, where it is a key that asks.
 * @param refusal what is said where there is none.
 */
export function createPlaces(ownerOf: (caller: Caller) => string, refusal: string): TakePlace {
  const taken = new Map<string, number>();
  return (caller) => {
    const name = JSON.stringify([ownerOf(caller), caller.session]);
    const count = taken.get(name) ?? 0;
    if (count >= PLACES) throw new GatewayError('rate_limit_exceeded', refusal, { retryAfter: 1 });
    taken.set(name, count + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const rest = (taken.get(name) ?? 1) - 1;
      if (rest > 0) taken.set(name, rest);
      else taken.delete(name);
    };
  };
}
