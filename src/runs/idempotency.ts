import { assertSame, KEPT_FOR, type Repeatable } from '../accounts/idempotency.ts';
import { GatewayError } from '../errors.ts';
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../log.ts';
import { looks } from '../storage/looks.ts';
import type { Owner } from '../storage/owner.ts';
import { persist } from '../storage/persist.ts';
import type { PubSub } from '../storage/pubsub.ts';

/**
 * Runs that are asked for under an idempotency key: the same again is answered by the first run, for 24 hours. A run
 * that failed or was interrupted releases its key.
 */
export type Idempotency = {
  /**
   * Claims a key. While another request with it is about to begin its run, this one waits.
   *
   * @returns the run that answers; none: this request is the first, and has to `release` the key or begin a run.
   * @throws GatewayError `idempotency_conflict` where the key was used for something else; `session_busy` when the
   *   other request has not begun after 2 minutes; the signal's reason when the caller goes.
   */
  claim(request: Repeatable, signal: AbortSignal): Promise<string | undefined>;
  /**
   * The write that notes the run of a claimed key, for the transaction that begins it. Afterwards, `announce`.
   *
   * @param tx that transaction, where it is one of several steps.
   */
  answerWith(
    request: Repeatable,
    runId: string,
    tx?: Prisma.TransactionClient,
  ): Prisma.PrismaPromise<unknown>;
  /** Tells those who wait that the key has its run. */
  announce(request: Repeatable): void;
  /** Gives a claimed key back: the request was refused before a run began. */
  release(request: Repeatable): Promise<void>;
};

const MAX_WAIT_MS = 120_000;

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
  /** Takes a key that nobody has used, or whose day is over, or whose first request has died with its process. */
  const take = async ({ accountId, key, fingerprint }: Repeatable): Promise<boolean> => {
    const taken = await prisma.$executeRaw`
      INSERT INTO idempotency_records AS record (account_id, key, fingerprint, owner_id, expires_at)
      VALUES (${accountId}, ${key}, ${fingerprint}, ${owner.id()}, now() + ${KEPT_FOR}::interval)
      ON CONFLICT (account_id, key) DO UPDATE
      SET fingerprint = excluded.fingerprint, owner_id = excluded.owner_id, run_id = NULL,
          deployment_id = NULL, created_at = now(), expires_at = excluded.expires_at
      WHERE record.expires_at < now()
        OR (record.run_id IS NULL AND record.deployment_id IS NULL
          AND NOT EXISTS (SELECT 1 FROM owners WHERE id = record.owner_id))`;
    return taken > 0;
  };

  /** Takes a key whose run has failed, or is gone. Asked by itself: the run is younger than its record's lock. */
  const takeOver = async ({ accountId, key, fingerprint }: Repeatable, runId: string) => {
    const run = await prisma.run.findUnique({ where: { id: runId }, select: { status: true } });
    if (run && run.status !== 'FAILED') return false;
    const { count } = await prisma.idempotencyRecord.updateMany({
      where: { accountId, key, runId },
      data: { fingerprint, ownerId: owner.id(), runId: null },
    });
    return count > 0;
  };

  const recordOf = ({ accountId, key }: Repeatable) =>
    prisma.idempotencyRecord.findUnique({ where: { accountId_key: { accountId, key } } });

  return {
    async claim(request, signal) {
      for await (const _ of looks(pubsub, channelOf(request), signal, MAX_WAIT_MS)) {
        if (await take(request)) return undefined;
        const record = await recordOf(request);
        if (record?.runId && (await takeOver(request, record.runId))) return undefined;
        if (record) assertSame(request, record);
        if (record?.runId) return record.runId;
      }
      signal.throwIfAborted();
      throw new GatewayError('session_busy', 'The first request with this key has not begun yet.');
    },

    answerWith: ({ accountId, key }, runId, tx = prisma) =>
      tx.idempotencyRecord.update({
        where: { accountId_key: { accountId, key }, ownerId: owner.id() },
        data: { runId },
      }),

    announce: (request) => pubsub.publish(channelOf(request), ''),

    release: (request) =>
      persist(
        async () => {
          const { accountId, key } = request;
          await prisma.idempotencyRecord.deleteMany({ where: { accountId, key, runId: null } });
          pubsub.publish(channelOf(request), '');
        },
        { log, what: 'The release of an idempotency key' },
      ),
  };
}

function channelOf({ accountId, key }: Repeatable): string {
  return `idempotency:${accountId}:${key}`;
}
