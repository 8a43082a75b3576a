import { setTimeout } from 'node:timers/promises';
import { isOwnerless } from '../coordination/worker-lease.ts';
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../log.ts';

/** Sweeps out what is not kept any longer, until it is closed. */
export type Retention = { close(): Promise<void> };

const SWEEP_EVERY_MS = 10 * 60 * 1_000;
/** How long the events of a run replay at least, as PostgreSQL says it. */
const REPLAYED_FOR = '24 hours';
const BATCH = 500;
/** Between two batches, so that requests come first. */
const REST_MS = 50;
/** Of the sweep among the advisory locks of a database: "prly" in ASCII. */
const LOCK = 0x70726c79;

/**
 * Deletes in small batches, now and every ten minutes: idempotency records that are past their day; and where a number
 * of days is set, runs that are older and have been over for a day (their messages and traces go with them), and
 * sessions not seen for so long that have neither a message nor a memory left. What a bot remembers of its users is
 * kept until it is forgotten. One process at a time sweeps a batch; the others leave it to that one.
 *
 * @param days how long runs are kept; for good where it is not said.
 */
export function startRetention({
  prisma,
  log,
  days,
}: {
  prisma: PrismaClient;
  log: Log;
  days?: number | undefined;
}): Retention {
  const closed = new AbortController();

  /** @param rows which rows of a table may go, by the names of their keys. @returns whether there may be more. */
  const sweepBatch = async (table: Prisma.Sql, keys: Prisma.Sql, rows: Prisma.Sql) => {
    const deleted = await prisma.$executeRaw`
      WITH swept AS MATERIALIZED (
        SELECT ${keys} FROM ${table}
        WHERE (SELECT pg_try_advisory_xact_lock(${LOCK}::bigint)) AND ${rows}
        LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
      )
      DELETE FROM ${table} WHERE (${keys}) IN (SELECT ${keys} FROM swept)`;
    return deleted === BATCH;
  };

  const sweepTable = async (...what: Parameters<typeof sweepBatch>) => {
    while (!closed.signal.aborted && (await sweepBatch(...what))) await setTimeout(REST_MS);
  };

  const sweep = async () => {
    await sweepTable(
      Prisma.sql`idempotency_records`,
      Prisma.sql`account_id, key`,
      Prisma.sql`expires_at < now()`,
    );
    if (days === undefined) return;
    const before = Prisma.sql`now() - make_interval(days => ${days}::int)`;
    await sweepTable(
      Prisma.sql`runs`,
      Prisma.sql`id`,
      Prisma.sql`created_at < ${before} AND status IN ('COMPLETED', 'FAILED', 'CANCELLED')
        AND (finished_at IS NULL OR finished_at < now() - ${REPLAYED_FOR}::interval)`,
    );
    await sweepTable(
      Prisma.sql`sessions`,
      Prisma.sql`id`,
      Prisma.sql`last_seen_at < ${before}
        AND ${Prisma.raw(isOwnerless('lease_owner'))}
        AND NOT EXISTS (SELECT 1 FROM messages WHERE session_key = sessions.id)
        AND NOT EXISTS (SELECT 1 FROM memory_entries WHERE session_key = sessions.id)
        AND NOT EXISTS (SELECT 1 FROM turn_waiters WHERE session_key = sessions.id)`,
    );
  };

  let sweeping: Promise<void> | undefined;
  const sweepAgain = () => {
    sweeping ??= sweep()
      .catch((err: unknown) => log.error({ err }, 'What is old could not be swept out.'))
      .finally(() => {
        sweeping = undefined;
      });
  };
  sweepAgain();
  const timer = setInterval(sweepAgain, SWEEP_EVERY_MS);
  return {
    async close() {
      closed.abort();
      clearInterval(timer);
      await sweeping;
    },
  };
}
