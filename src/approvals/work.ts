import { type AuditedChange, recordChanges } from '../accounts/audit.ts';
import { isOwnerless, type Owner } from '../coordination/worker-lease.ts';
import { type Approval, Prisma, type PrismaClient } from '../generated/prisma/client.ts';

/** Attempts at what follows a decision, over half an hour: a busy session or a full account must not cost the outcome. */
export const MAX_ATTEMPTS = 20;
/** The pause before the next attempt is this many seconds times the attempts so far. */
const RETRY_SECONDS = 10;

/** The work that follows decisions: one process at a time does the work of an approval. */
export type Work = {
  /** Whether an approval has expired, or work is due. */
  isDue(): Promise<boolean>;
  /** Ends the approvals that nobody decided in time. @returns them. */
  expire(): Promise<{ id: string; botId: string }[]>;
  /** Takes the work of at most some approvals. @returns their ids. */
  take(limit: number): Promise<string[]>;
  /** All that follows the decision is done. @returns the approval, unless it was done before or is deleted. */
  settle(
    id: string,
    followUpId: string | null,
  ): Promise<Pick<Approval, 'id' | 'botId' | 'runId'> | undefined>;
  /**
   * Returns the work that this process has taken. Another attempt follows after a pause, if there is one.
   *
   * @returns whether that was the last attempt.
   */
  release(id: string): Promise<boolean>;
};

/** The approvals of accounts that are not suspended. */
const OF_ACTIVE_ACCOUNTS = Prisma.sql`EXISTS (
  SELECT 1 FROM bots JOIN accounts ON accounts.id = bots.account_id
  WHERE bots.id = approvals.bot_id AND suspended_at IS NULL AND deleted_at IS NULL)`;
const IS_DUE = Prisma.sql`settled_at IS NULL AND decided_at IS NOT NULL AND available_at <= now()
  AND ${Prisma.raw(isOwnerless('approvals.owner_id'))} AND ${OF_ACTIVE_ACCOUNTS}`;
/** Whether an approval has expired, or work is due. */
export const IS_APPROVAL_DUE = Prisma.sql`(
  EXISTS (SELECT 1 FROM approvals WHERE status = 'WAITING' AND expires_at <= now())
  OR EXISTS (SELECT 1 FROM approvals WHERE ${IS_DUE}))`;
/** The most approvals that one statement ends. */
const BATCH = 500;

export function createWork({
  prisma,
  owner,
}: {
  prisma: PrismaClient;
  owner: Pick<Owner, 'id'>;
}): Work {
  return {
    async isDue() {
      const [found] = await prisma.$queryRaw<{ isDue: boolean }[]>`
        SELECT ${IS_APPROVAL_DUE} AS "isDue"`;
      return found?.isDue ?? false;
    },

    expire: () =>
      prisma.$transaction(async (tx) => {
        const expired = await tx.$queryRaw<{ id: string; botId: string; accountId: string }[]>`
          WITH late AS (
            SELECT id FROM approvals WHERE status = 'WAITING' AND expires_at <= now()
            ORDER BY expires_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
          ), expired AS (
            UPDATE approvals SET status = 'EXPIRED', decided_at = now() WHERE id IN (SELECT id FROM late)
            RETURNING id, bot_id
          ), calls AS (
            UPDATE tool_calls SET status = 'EXPIRED', finished_at = now()
            WHERE id IN (SELECT id FROM expired) AND status = 'WAITING'
          )
          SELECT expired.id, bot_id AS "botId", account_id AS "accountId" FROM expired JOIN bots ON bots.id = bot_id`;
        for (const [accountId, ended] of Map.groupBy(expired, (one) => one.accountId)) {
          const changes = ended.map(
            ({ id, botId }): AuditedChange => ({ action: 'EXPIRE_APPROVAL', targetId: id, botId }),
          );
          await recordChanges(tx, { accountId, keyId: null }, ...changes);
        }
        return expired;
      }),

    async take(limit) {
      const rows = await prisma.$queryRaw<{ id: string }[]>`
        UPDATE approvals SET owner_id = ${owner.id()}, attempts = attempts + 1
        WHERE id IN (
          SELECT id FROM approvals WHERE ${IS_DUE} ORDER BY available_at LIMIT ${limit}::int FOR UPDATE SKIP LOCKED
        )
        RETURNING id`;
      return rows.map(({ id }) => id);
    },

    async settle(id, followUpId) {
      const [settled] = await prisma.approval.updateManyAndReturn({
        where: { id, settledAt: null },
        data: { settledAt: new Date(), ownerId: null, followUpId },
        select: { id: true, botId: true, runId: true },
      });
      return settled;
    },

    async release(id) {
      const rows = await prisma.$queryRaw<{ isOver: boolean }[]>`
        UPDATE approvals SET owner_id = NULL, available_at = now() + make_interval(secs => attempts * ${RETRY_SECONDS}::int),
          settled_at = CASE WHEN attempts >= ${MAX_ATTEMPTS}::int THEN now() END
        WHERE id = ${id} AND owner_id = ${owner.id()} AND settled_at IS NULL
        RETURNING settled_at IS NOT NULL AS "isOver"`;
      return rows[0]?.isOver === true;
    },
  };
}
