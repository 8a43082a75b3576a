import { pollOnNotify } from '../coordination/poll-on-notify.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import { isSilent } from '../coordination/worker-lease.ts';
import { GatewayError } from '../errors/errors.ts';
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../observability/log.ts';
import { persist } from '../storage/persist.ts';
import { REQUEST_LIMIT_MS, retry } from '../storage/retry.ts';
import { type Claim, IS_FREE, releaseClaim } from './claim.ts';
import { assertSame, type Repeatable } from './key.ts';

/**
 * Idempotency keys of requests that begin runs. The statement that begins a run claims its key (`runs/life/begin.ts`). For 24
 * hours, a repeated request gets the first run. A failed or interrupted run releases its key, and the next run starts a
 * new 24 hours.
 */
export type Idempotency = {
  /**
   * Finds the run of an earlier request with the same key. It waits while that request has not begun its run. It also
   * waits while the run's owner may be dead, until the run has failed or the owner has a fresh heartbeat.
   *
   * @returns the run's id; `undefined` if the key is free.
   * @throws GatewayError `idempotency_conflict` if the key was used for a different request; `session_busy` if the other
   *   request has not begun its run after 2 minutes; the signal's reason if it aborts.
   */
  findRun(request: Repeatable, signal: AbortSignal): Promise<string | undefined>;
  /** Notifies the waiting requests that the key has a run. */
  notify(request: Repeatable): void;
  /** Releases a claim whose request failed before its run began. A later claim of the same key stays. */
  release(claim: Claim): Promise<void>;
};

const MAX_WAIT_MS = 120_000;

/** The state of a key's record. */
type Found = {
  namespace: string;
  fingerprint: string;
  runId: string | null;
  /** Identify this claim of the key. */
  claimId: string | null;
  createdAt: Date;
  /** `free`: as `IS_FREE`. `pending`: the run has not begun, or its owner may be dead. */
  state: 'free' | 'pending' | 'answers';
};

export function createIdempotency({
  prisma,
  pubsub,
  log,
}: {
  prisma: PrismaClient;
  pubsub: PubSub;
  log: Log;
}): Idempotency {
  const notify = (request: Repeatable) => pubsub.publish(channelOf(request), '');

  const find = ({ accountId, namespace, formerNamespace = namespace, key }: Repeatable) =>
    prisma.$queryRaw<Found[]>`
    SELECT record.namespace, record.fingerprint, record.run_id AS "runId", record.claim_id AS "claimId",
      record.created_at AS "createdAt",
      CASE
        WHEN ${Prisma.raw(IS_FREE)} THEN 'free'
        WHEN record.deployment_id IS NOT NULL THEN 'answers'
        WHEN runs.id IS NULL THEN 'pending'
        WHEN runs.status = 'RUNNING' AND NOT background
          AND ${Prisma.raw(isSilent('runs.owner_id'))} THEN 'pending'
        ELSE 'answers'
      END AS state
    FROM idempotency_records AS record LEFT JOIN runs ON runs.id = record.run_id
    WHERE record.account_id = ${accountId} AND record.namespace IN (${namespace}, ${formerNamespace})
      AND record.key = ${key}`;

  /** Deletes the records of a free key. Leaves one if another request has claimed the key since. */
  const evict = ({ accountId, key }: Repeatable, found: Found[]) =>
    prisma.idempotencyRecord.deleteMany({
      where: {
        accountId,
        key,
        OR: found.map(({ namespace, claimId, createdAt }) => ({ namespace, claimId, createdAt })),
      },
    });

  return {
    async findRun(request, signal) {
      const atMost = { limitMs: REQUEST_LIMIT_MS, signal };
      for await (const _ of pollOnNotify(pubsub, channelOf(request), signal, {
        limitMs: MAX_WAIT_MS,
      })) {
        const records = await retry(() => find(request), atMost);
        const found = records.find(({ state }) => state !== 'free');
        if (!found) {
          if (records.length > 0) await retry(() => evict(request, records), atMost);
          return undefined;
        }
        assertSame(request, found);
        if (found.state === 'answers') return found.runId ?? undefined;
      }
      signal.throwIfAborted();
      throw new GatewayError('session_busy', 'The first request with this key has not begun yet.');
    },

    notify,

    release: (claim) =>
      persist(() => releaseClaim(prisma, claim).then(() => notify(claim)), {
        log,
        what: 'The release of an idempotency key',
      }),
  };
}

function channelOf({ accountId, namespace, key }: Repeatable): string {
  return `idempotency:${accountId}:${namespace}:${key}`;
}
