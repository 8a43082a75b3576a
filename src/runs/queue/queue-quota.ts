import { LRUCache } from 'lru-cache';
import { GatewayError } from '../../errors/errors.ts';
import type { Plan, PrismaClient } from '../../generated/prisma/client.ts';
import { PLANS } from '../../vocabulary/plans.ts';

/** How long the count of an account's queued runs is cached, so that a long queue is not counted for each new run. */
const COUNTED_FOR_MS = 1_000;
const MAX_COUNTED = 1_000;

/** Limits the queued runs of an account to the number of its plan. */
export function createQueueQuota({ prisma }: { prisma: PrismaClient }) {
  const counts = new LRUCache<string, { queued: number }>({
    max: MAX_COUNTED,
    ttl: COUNTED_FOR_MS,
    fetchMethod: async (accountId) => {
      const [row] = await prisma.$queryRaw<{ queued: number }[]>`
        SELECT count(*)::int AS queued FROM runs
        WHERE status = 'QUEUED' AND attempt = 0 AND account_id = ${accountId}`;
      return row;
    },
  });

  return {
    /**
     * Reserves a place in the account's queue. Checks a count that is at most a second old and includes the runs that
     * this process has added since.
     *
     * @returns a function that releases the place.
     */
    async reserve(accountId: string, plan: Plan) {
      const max = PLANS[plan].queuedRuns;
      const count = await counts.fetch(accountId);
      if (count && count.queued >= max) {
        const message = `This account has ${max} background runs waiting, the limit of its plan. Try again when one begins.`;
        throw new GatewayError('rate_limit_exceeded', message, { retryAfter: 1 });
      }
      if (count) count.queued += 1;
      return () => {
        if (count) count.queued -= 1;
      };
    },
  };
}
