import { looks } from '../coordination/poll-on-notify.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import { isOwnerless, isSilent, type Owner } from '../coordination/worker-lease.ts';
import { GatewayError } from '../errors.ts';
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';
import type { Log } from '../log.ts';
import { persist, undo } from '../storage/persist.ts';
import { REQUEST_LIMIT_MS, retry } from '../storage/retry.ts';
import { assertSame, KEPT_FOR, keyOf, type Repeatable } from './key.ts';

/** A key that a request has to itself until its run begins, for 90 seconds at most. */
export type Claim = Repeatable & {
  /** `clm_…` */
  id: string;
};

/**
 * Runs that are asked for under an idempotency key: the same again is answered by the first run, for 24 hours. A run
 * that failed or was interrupted releases its key, and the next one has 24 hours of its own.
 */
export type Idempotency = {
  /**
   * Claims a key. While another request with it is about to begin its run, this one waits. It also waits while the
   * owner of the run may be dead, until the run has failed or the owner has a fresh heartbeat.
   *
   * @returns the run that answers; or a claim, where this request is the first: it has to `release` it or begin a run.
   * @throws GatewayError `idempotency_conflict` where the key was used for something else; `session_busy` when the
   *   other request has not begun after 2 minutes; the signal's reason when the caller goes.
   */
  claim(request: Repeatable, signal: AbortSignal): Promise<Claim | { runId: string }>;
  /**
   * The write that notes the run of a claimed key, for the transaction that begins it, and makes it fail where another
   * request has the key by now. Afterwards, `announce`.
   *
   * @param tx that transaction, where it is one of several steps.
   */
  answerWith(
    claim: Claim,
    runId: string,
    tx?: Prisma.TransactionClient,
  ): Prisma.PrismaPromise<unknown>;
  /** Tells those who wait that the key has its run. */
  announce(request: Repeatable): void;
  /** Gives a claimed key back: the request was refused before a run began. One that another has by now stays. */
  release(claim: Claim): Promise<void>;
};

const MAX_WAIT_MS = 120_000;
/**
 * Longer than a request waits for its turn. A claim may outlive its request: a statement that was delayed in the network
 * may take a key after the request has been answered. In PostgreSQL's notation.
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

  /** It may be done again when the key has been claimed anew: that claim is another one. */
  const free = (claim: Claim) => async () => {
    const { id: claimId } = claim;
    await prisma.idempotencyRecord.deleteMany({ where: { ...keyOf(claim), claimId } });
    pubsub.publish(channelOf(claim), '');
  };

  /**
   * Takes a key that nobody has used, or whose day is over, or whose first request has died or taken too long. Repeated
   * where the answer is lost; where that fails, a key that may have been taken is given back.
   *
   * @param failedId a run that has failed, or is gone: its key is free as well.
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
   * Whether a run has failed or is gone, or may be lost with its process. Asked by itself: the run is younger than its
   * record's lock.
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
      for await (const _ of looks(pubsub, channelOf(request), signal, MAX_WAIT_MS)) {
        if (await take(claim)) return claim;
        const record = await recordOf(request);
        if (!record) continue;
        const { runId } = record;
        const state = runId && (await stateOf(runId));
        if (state === 'failed') {
          if (await take(claim, runId)) return claim;
          // Another request was sooner, and its run is the one to wait for.
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
