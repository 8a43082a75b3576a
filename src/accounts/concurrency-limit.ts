import { GatewayError } from '../errors.ts';

/**
 * Reserves a slot among those of a name.
 *
 * @returns releases the slot; once, however often it is called.
 * @throws GatewayError `rate_limit_exceeded` where all `max` slots of the name are taken.
 */
export type AcquireSlot = (name: string, max: number) => () => void;

/** @param refusal the message where all slots are taken. */
export function createConcurrencyLimit(refusal: (max: number) => string): AcquireSlot {
  const taken = new Map<string, number>();
  return (name, max) => {
    const count = taken.get(name) ?? 0;
    if (count >= max)
      throw new GatewayError('rate_limit_exceeded', refusal(max), { retryAfter: 1 });
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
