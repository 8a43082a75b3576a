import { createSemaphore } from '../async/semaphore.ts';
import { GatewayError } from '../errors/errors.ts';
import type { Plan } from '../generated/prisma/client.ts';

/** How much an account may use at the same time, or in a second. */
export type ConcurrencyLimits = {
  /** Active foreground runs in one process, including runs that wait for their session's turn. */
  activeRuns: number;
  /** Active background runs in all processes together. */
  backgroundRuns: number;
  /** Background runs that wait for their first attempt. */
  queuedRuns: number;
  /** Open subscriptions and streams in one process. */
  streams: number;
  /** Points of work that the events of its subscriptions may take in one process in a second. */
  eventPoints: number;
};

export const CONCURRENCY_LIMITS: Record<Plan, ConcurrencyLimits> = {
  FREE: { activeRuns: 10, backgroundRuns: 1, queuedRuns: 100, streams: 100, eventPoints: 100 },
  PRO: { activeRuns: 50, backgroundRuns: 4, queuedRuns: 1_000, streams: 400, eventPoints: 400 },
  BUSINESS: {
    activeRuns: 200,
    backgroundRuns: 8,
    queuedRuns: 10_000,
    streams: 1_000,
    eventPoints: 1_000,
  },
  ENTERPRISE: {
    activeRuns: 1_000,
    backgroundRuns: 16,
    queuedRuns: 100_000,
    streams: 5_000,
    eventPoints: 5_000,
  },
};

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
