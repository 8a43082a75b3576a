import { createSemaphore } from '../async/semaphore.ts';
import { GatewayError } from '../errors/errors.ts';

/**
 * Acquires one of the `max` slots of a name.
 *
 * @returns an idempotent function that releases the slot.
 * @throws GatewayError `rate_limit_exceeded` if all slots of the name are taken.
 */
export type AcquireSlot = (name: string, max: number) => () => void;

/** @param refusal the error message if all slots are taken. */
export function createConcurrencyLimit(refusal: (max: number) => string): AcquireSlot {
  const { tryAcquire } = createSemaphore();
  return (name, max) => {
    const release = tryAcquire(name, max);
    if (release) return release;
    throw new GatewayError('rate_limit_exceeded', refusal(max), { retryAfter: 1 });
  };
}
