import { pollOnNotify } from '../coordination/poll-on-notify.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import { isOwnerless, isSilent, type Owner } from '../coordination/worker-lease.ts';
import { GatewayError } from '../errors.ts';
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';
import type { Log } from '../log.ts';
import { persist, undo } from '../storage/persist.ts';
import { REQUEST_LIMIT_MS, retry } from '../storage/retry.ts';
import { assertSame, KEPT_FOR, keyOf, type Repeatable } from './key.ts';

/** A request's exclusive claim on an idempotency key until its run begins, for at most 90 seconds. */
export type Claim = Repeatable & {
  /** `clm_…` */
  id: string;
};

/**
 * Idempotency keys of requests that begin runs. For 24 hours, a repeated request gets the first run. A failed or
 * interrupted run releases its key, and the next run starts a new 24 hours.
 */
export type Idempotency = {
  /**
   * Claims a key. It waits while another request holds the claim. It also waits while the run's owner may be dead, until
   * the run has failed or the owner has a fresh heartbeat.
   *
   * @returns the first request's run, or a claim if this request is the first. The caller must `release` the claim or
   *   begin a run with it.
   * @throws GatewayError `idempotency_conflict` if the key was used for a different request; `session_busy` if the other
   *   request has not begun its run after 2 minutes; the signal's reason if it aborts.
   */
  claim(request: Repeatable, signal: AbortSignal): Promise<Claim | { runId: string }>;
  /**
   * The write that records the run of a claimed key. Include it in the transaction that begins the run: it fails the
   * transaction if another request has claimed the key since. Call `announce` after the commit.
   *
   * @param tx the transaction, if it is an interactive one.
   */
  answerWith(
    claim: Claim,
    runId: string,
    tx?: Prisma.TransactionClient,
  ): Prisma.PrismaPromise<unknown>;
  /** Notifies the waiting requests that the key has a run. */
  announce(request: Repeatable): void;
  /** Releases a claim whose request failed before its run began. A later claim of the same key stays. */
  release(claim: Claim): Promise<void>;
};

const MAX_WAIT_MS = 120_000;
/**
 * A PostgreSQL interval, longer than a request waits for its turn. A claim may outlive its request, because a delayed
 * statement may claim the key after the response was sent.
 */
const CLAIMED_FOR = '90 seconds';

export function createIdempotency({
  prisma,
  owner,
  pubsub,
  log,
}: {
  prisma: PrismaClient;
  owner: Pick<Owner, 'id'>;
  pubsub: PubSub;
  log: Log;
}): Idempotency {
  const releasing = { log, what: 'The release of an idempotency key' };

  /** Safe to retry, because a new claim of the key has another id. */
  const free = (claim: Claim) => async () => {
    const { id: claimId } = claim;
    await prisma.idempotencyRecord.deleteMany({ where: { ...keyOf(claim), claimId } });
    pubsub.publish(channelOf(claim), '');
  };

  /**
   * Takes a key that is unused or expired, or whose claim was abandoned or has timed out. It retries if the outcome is
   * unknown. If the retries fail, it compensates: the key may have been taken.
   *
   * @param failedId a run that failed or was deleted, whose key is therefore free.
   */
  const take = async (claim: Claim, failedId: string | null = null): Promise<boolean> => {
    const { accountId, namespace, key, fingerprint, id } = claim;
    const takeOnce = () => prisma.$executeRaw`
      INSERT INTO idempotency_records AS record
        (account_id, namespace, key, fingerprint, owner_id, claim_id, expires_at)
      VALUES (${accountId}, ${namespace}, ${key}, ${fingerprint}, ${owner.id()}, ${id}, now() + ${KEPT_FOR}::interval)
      ON CONFLICT (account_id, namespace, key) DO UPDATE
      SET fingerprint = excluded.fingerprint, owner_id = excluded.owner_id, claim_id = excluded.claim_id,
          run_id = NULL, deployment_id = NULL, created_at = now(), expires_at = excluded.expires_at
      WHERE record.expires_at < now()
        OR record.claim_id = excluded.claim_id
        OR record.run_id = ${failedId}
        OR (record.run_id IS NULL AND record.deployment_id IS NULL
          AND (record.created_at < now() - ${CLAIMED_FOR}::interval
            OR ${Prisma.raw(isOwnerless('record.owner_id'))}))`;
    try {
      return (await retry(takeOnce, { limitMs: REQUEST_LIMIT_MS })) > 0;
    } catch (error) {
      await undo(free(claim), releasing);
      throw error;
    }
  };

  /**
   * Whether a run has failed or was deleted, or its owner may be dead. It needs its own statement: the snapshot of `take`
   * may be older than the run.
   */
  const stateOf = async (id: string): Promise<'failed' | 'silent' | 'answers'> => {
    const [run] = await prisma.$queryRaw<{ hasFailed: boolean; isSilent: boolean }[]>`
      SELECT status = 'FAILED' AS "hasFailed",
        status = 'RUNNING' AND NOT background AND ${Prisma.raw(isSilent('runs.owner_id'))} AS "isSilent"
      FROM runs WHERE id = ${id}`;
    if (run === undefined || run.hasFailed) return 'failed';
    return run.isSilent ? 'silent' : 'answers';
  };

  const recordOf = (request: Repeatable) =>
    prisma.idempotencyRecord.findUnique({
      where: { accountId_namespace_key: keyOf(request) },
    });

  return {
    async claim(request, signal) {
      const claim = { ...request, id: makeId('clm') };
      for await (const _ of pollOnNotify(pubsub, channelOf(request), signal, MAX_WAIT_MS)) {
        if (await take(claim)) return claim;
        const record = await recordOf(request);
        if (!record) continue;
        const { runId } = record;
        const state = runId && (await stateOf(runId));
        if (state === 'failed') {
          if (await take(claim, runId)) return claim;
          // Another request has claimed the key first. Wait for its run.
          continue;
        }
        assertSame(request, record);
        if (runId && state === 'answers') return { runId };
      }
      signal.throwIfAborted();
      throw new GatewayError('session_busy', 'The first request with this key has not begun yet.');
    },

    answerWith: (claim, runId, tx = prisma) =>
      tx.idempotencyRecord.update({
        where: { accountId_namespace_key: keyOf(claim), claimId: claim.id },
        data: { runId, claimId: null },
      }),

    announce: (request) => pubsub.publish(channelOf(request), ''),

    release: (claim) => persist(free(claim), releasing),
  };
}

function channelOf({ accountId, namespace, key }: Repeatable): string {
  return `idempotency:${accountId}:${namespace}:${key}`;
}
