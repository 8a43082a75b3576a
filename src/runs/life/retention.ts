import { setTimeout } from 'node:timers/promises';
import { AUDIT_DAYS } from '../../accounts/audit.ts';
import { type PeriodicTask, startPeriodic } from '../../async/periodic.ts';
import { isOwnerless } from '../../coordination/worker-lease.ts';
import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import type { Log } from '../../observability/log.ts';
import { IS_DRAFT_SESSION } from '../../sessions/sessions.ts';
import { firstIdAt } from '../../text/ids.ts';

const SWEEP_EVERY_MS = 10 * 60 * 1_000;
/** The shortest time for which a finished run's events can be replayed, as a PostgreSQL interval. */
const REPLAYED_FOR = '24 hours';
/** Days that runs keep what they sent to the model, by default. */
export const PROMPT_DAYS = 30;
/** Days that the records of tool calls keep their texts, by default. */
export const TOOL_CALL_DAYS = 30;
/** Days that evaluations are kept, by default. */
const EVALUATION_DAYS = 90;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** How long chats with drafts are kept at least, as a PostgreSQL interval. */
const DRAFTS_FOR = '24 hours';
/** Selects finished runs whose events need not be replayed any more. */
const NO_LONGER_REPLAYED = Prisma.sql`status IN ('COMPLETED', 'FAILED', 'CANCELLED')
  AND (finished_at IS NULL OR finished_at < now() - ${REPLAYED_FOR}::interval)`;
const BATCH = 500;
/** The pause between two batches, so that requests have priority. */
const REST_MS = 50;
/** The sweep's advisory lock: "prly" in ASCII. */
const LOCK = 0x70726c79;

/**
 * Deletes expired rows until it is disposed of: it sweeps at once and every ten minutes, in small batches. Deletes expired
 * idempotency records, entries of the audit log after 400 days, chats with drafts after a day, evaluations after
 * `evaluationDays`, what runs sent to the model after `promptDays`, the texts of tool calls after `toolCallDays`, and progress
 * of runs that are deleted or no longer active. If `days` is set, also deletes runs older than that which finished at least a day ago, with their messages and traces, and sessions not seen for as long that have no
 * messages and no memory. Memory never expires. One process at a time sweeps a batch; the others skip it.
 *
 * @param days how long runs are kept; for ever by default.
 */
export function startRetention({
  prisma,
  log,
  days,
  promptDays = PROMPT_DAYS,
  toolCallDays = TOOL_CALL_DAYS,
  evaluationDays = EVALUATION_DAYS,
}: {
  prisma: PrismaClient;
  log: Log;
  days?: number | undefined;
  promptDays?: number | undefined;
  toolCallDays?: number | undefined;
  evaluationDays?: number | undefined;
}): PeriodicTask {
  /**
   * @param keys the columns that identify a row.
   * @param rows the condition for rows to delete.
   * @returns whether more rows may match.
   */
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

  /** @returns whether more records may have old texts. */
  const sweepToolTexts = async () => {
    const swept = await prisma.$executeRaw`
      WITH swept AS MATERIALIZED (
        SELECT id FROM tool_calls
        WHERE (SELECT pg_try_advisory_xact_lock(${LOCK}::bigint)) AND arguments IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM approvals WHERE approvals.id = tool_calls.id AND settled_at IS NULL)
          AND id < ${firstIdAt('tcl', Date.now() - toolCallDays * DAY_MS)}
        LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
      ), decided AS (
        UPDATE approvals SET arguments = NULL, edited_arguments = NULL, request = NULL, values = '{}'
        WHERE id IN (SELECT id FROM swept)
      )
      UPDATE tool_calls SET arguments = NULL, request = NULL, result = NULL WHERE id IN (SELECT id FROM swept)`;
    return swept === BATCH;
  };

  const sweep = async (stopped: AbortSignal) => {
    const sweepTable = async (...what: Parameters<typeof sweepBatch>) => {
      while (!stopped.aborted && (await sweepBatch(...what))) await setTimeout(REST_MS);
    };
    await sweepTable(
      Prisma.sql`idempotency_records`,
      Prisma.sql`account_id, namespace, key`,
      Prisma.sql`expires_at < now()`,
    );
    await sweepTable(
      Prisma.sql`audit_entries`,
      Prisma.sql`id`,
      Prisma.sql`created_at < now() - make_interval(days => ${AUDIT_DAYS}::int)`,
    );
    await sweepTable(
      Prisma.sql`runs`,
      Prisma.sql`id`,
      Prisma.sql`kind = 'DRAFT' AND created_at < now() - ${DRAFTS_FOR}::interval AND ${NO_LONGER_REPLAYED}`,
    );
    await sweepTable(
      Prisma.sql`sessions`,
      Prisma.sql`id`,
      Prisma.sql`${IS_DRAFT_SESSION} AND last_seen_at < now() - ${DRAFTS_FOR}::interval
        AND ${Prisma.raw(isOwnerless('lease_owner'))}`,
    );
    await sweepTable(
      Prisma.sql`run_prompts`,
      Prisma.sql`run_id`,
      Prisma.sql`run_id < ${firstIdAt('run', Date.now() - promptDays * DAY_MS)}`,
    );
    await sweepTable(
      Prisma.sql`evaluations`,
      Prisma.sql`id`,
      Prisma.sql`finished_at < now() - make_interval(days => ${evaluationDays}::int)`,
    );
    while (!stopped.aborted && (await sweepToolTexts())) await setTimeout(REST_MS);
    const orphans = await prisma.$executeRaw`
      DELETE FROM run_progress WHERE NOT EXISTS (
        SELECT 1 FROM runs WHERE id = run_id AND status = 'RUNNING' AND runs.attempt = run_progress.attempt)`;
    if (orphans > 0) log.warn({ orphans }, 'Deleted stored progress of runs that are not active.');
    if (days === undefined) return;
    const before = Prisma.sql`now() - make_interval(days => ${days}::int)`;
    await sweepTable(
      Prisma.sql`runs`,
      Prisma.sql`id`,
      Prisma.sql`created_at < ${before} AND ${NO_LONGER_REPLAYED}`,
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

  return startPeriodic(sweep, {
    everyMs: SWEEP_EVERY_MS,
    isImmediate: true,
    log,
    what: 'Retention sweep',
  });
}
