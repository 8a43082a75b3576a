import { setTimeout } from 'node:timers/promises';
import { type PeriodicTask, startPeriodic } from '../../async/periodic.ts';
import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import type { Log } from '../../observability/log.ts';
import { moment } from '../../storage/moment.ts';
import { addTotals, entriesOfChanges, entriesOfRuns } from './add-totals.ts';

const COUNT_EVERY_MS = 30_000;
const BATCH = 20_000;
/**
 * Deleted changes after which their table is vacuumed: readers pass over each of them until then. Autovacuum may be late after
 * an import or a deletion, and the embedded database has none.
 */
const VACUUM_AFTER = 10_000;
/** The pause between two batches, so that requests have priority. */
const REST_MS = 50;

/**
 * The age of the youngest counted run. It is 10 seconds longer than in the conditions of the triggers of the migration
 * `run_totals`: a change without a trigger is a change of a younger run.
 */
const SETTLED = Prisma.sql`interval '60 seconds'`;
/** No counted run is younger, unless the clock of the database was set back. */
const NEVER_COUNTED = Prisma.sql`interval '55 seconds'`;

/** Which runs the totals count, and which of the others can be counted next. */
type Progress = {
  /** Changes with the totals, so that two processes never add to the same ones. */
  version: bigint;
  /** Runs created from this time, inclusive, … */
  from: Date;
  /** … until this one, exclusive, are counted. */
  until: Date;
  nextFrom: Date;
  nextUntil: Date;
  hasNewer: boolean;
  hasOlder: boolean;
  hasChanges: boolean;
  isAhead: boolean;
};

/**
 * Reads the progress. A transaction that has changed a run without calling a trigger may not be visible yet: `settled` is
 * before every run that an open transaction can have changed so.
 */
const progressOf = (batch: number) => Prisma.sql`
  SELECT version, counted_from AS "from", counted_until AS "until",
    COALESCE((SELECT created_at FROM runs WHERE created_at < counted_from ORDER BY created_at DESC OFFSET ${batch} LIMIT 1),
      ${moment(0)}) AS "nextFrom",
    COALESCE(
      (SELECT GREATEST(created_at, counted_until + interval '1 millisecond') FROM runs
        WHERE created_at >= counted_until AND created_at < settled ORDER BY created_at OFFSET ${batch} LIMIT 1),
      settled) AS "nextUntil",
    EXISTS (SELECT 1 FROM runs WHERE created_at >= counted_until AND created_at < settled) AS "hasNewer",
    counted_from > ${moment(0)} AS "hasOlder",
    EXISTS (SELECT 1 FROM run_total_changes WHERE created_at >= counted_from AND created_at < counted_until) AS "hasChanges",
    counted_until > now() - ${NEVER_COUNTED} AS "isAhead"
  FROM run_totals_range, (
    SELECT (LEAST(now(), min(xact_start)) - ${SETTLED})::timestamptz(3) AS settled
    FROM pg_stat_activity
    WHERE datname = current_database() AND backend_xid IS NOT NULL AND pid <> pg_backend_pid()
  ) AS activity`;

export type CountRuns = {
  /** Counts up to one batch, or goes back. @returns whether there may be more to do. */
  countNext(): Promise<boolean>;
  /** Counts all runs that are older than a minute and not counted yet. Stops early if another process counts. */
  countAll(signal: AbortSignal): Promise<void>;
};

/**
 * Keeps the totals of `run_totals`. They count the runs created in a range of time, which grows at both ends: at the later one
 * as time passes, and at the earlier one until all runs that existed before the totals are counted. Each step is one statement, so
 * that it sees both the runs and their changes at one time: the changes of a newly counted run are in it already, and later ones
 * are added.
 */
export function createCountRuns({
  prisma,
  batch = BATCH,
}: {
  prisma: PrismaClient;
  /** Runs or changes that one statement counts. Runs of the same millisecond are counted together, however many they are. */
  batch?: number | undefined;
}): CountRuns {
  let deleted = 0;

  /**
   * @param steps delete changes as `taken`.
   * @returns whether no other process has counted since.
   */
  const execute = async ({ version }: Progress, steps: Prisma.Sql, ...ends: Prisma.Sql[]) => {
    const [row] = await prisma.$queryRaw<{ isDone: boolean; taken: number }[]>`
      WITH moved AS (${moved(version, ...ends)}), ${steps}
      SELECT EXISTS (SELECT 1 FROM moved) AS "isDone", (SELECT count(*) FROM taken)::float8 AS taken`;
    deleted += row?.taken ?? 0;
    return row?.isDone === true;
  };

  /** Counts the runs of a time that was not counted. */
  const extend = (progress: Progress, from: Date, until: Date, end: Prisma.Sql) => {
    const inside = Prisma.sql`
      created_at >= ${moment(from.getTime())} AND created_at < ${moment(until.getTime())}`;
    return execute(
      progress,
      Prisma.sql`
        taken AS (DELETE FROM run_total_changes USING moved WHERE ${inside} RETURNING 1),
        entry AS (${entriesOfRuns(Prisma.sql`moved, runs WHERE ${inside}`)}),
        ${addTotals}`,
      end,
    );
  };

  const addChanges = (progress: Progress) => {
    const inside = Prisma.sql`
      created_at >= ${moment(progress.from.getTime())} AND created_at < ${moment(progress.until.getTime())}`;
    return execute(
      progress,
      Prisma.sql`
        taken AS (
          DELETE FROM run_total_changes USING moved
          WHERE ctid = ANY(ARRAY(SELECT ctid FROM run_total_changes WHERE ${inside} LIMIT ${batch}))
          RETURNING run_total_changes.*
        ),
        entry AS (${entriesOfChanges(Prisma.sql`taken AS runs`)}),
        ${addTotals}`,
    );
  };

  /** Counts the day again, because the clock was set back: no trigger has noted the changes of its runs. */
  const goBack = (progress: Progress) => {
    const start = Prisma.sql`date_trunc('day', now() - interval '1 hour', 'UTC')`;
    return execute(
      progress,
      Prisma.sql`
        taken AS (DELETE FROM run_total_changes USING moved WHERE created_at >= ${start} RETURNING 1),
        removed AS (DELETE FROM run_totals USING moved WHERE start >= ${start})`,
      Prisma.sql`counted_until = ${start}`,
      Prisma.sql`counted_from = LEAST(counted_from, ${start})`,
    );
  };

  const countNext = async (): Promise<boolean> => {
    const [progress] = await prisma.$queryRaw<Progress[]>(progressOf(batch));
    if (!progress) throw new Error('The table run_totals_range has no row.');
    const { from, until, nextFrom, nextUntil } = progress;
    if (progress.isAhead) return goBack(progress);
    if (progress.hasNewer) {
      return extend(
        progress,
        until,
        nextUntil,
        Prisma.sql`counted_until = ${moment(nextUntil.getTime())}`,
      );
    }
    if (progress.hasChanges) return addChanges(progress);
    if (progress.hasOlder) {
      return extend(
        progress,
        nextFrom,
        from,
        Prisma.sql`counted_from = ${moment(nextFrom.getTime())}`,
      );
    }
    return false;
  };

  return {
    countNext,
    async countAll(signal) {
      while (!signal.aborted && (await countNext())) await setTimeout(REST_MS);
      if (deleted < VACUUM_AFTER) return;
      deleted = 0;
      await prisma.$executeRaw`VACUUM run_total_changes`;
    },
  };
}

/** Counts runs twice a minute until it is disposed of. One process counts at a time; the others find nothing to do. */
export function startCountingRuns({
  countRuns,
  log,
}: {
  countRuns: CountRuns;
  log: Log;
}): PeriodicTask {
  return startPeriodic((stopped) => countRuns.countAll(stopped), {
    everyMs: COUNT_EVERY_MS,
    isImmediate: true,
    log,
    what: 'Counting of runs for statistics',
  });
}

/** Claims the totals, as SQL with a row if no other process has changed them since a version. */
export function moved(version: bigint, ...ends: Prisma.Sql[]): Prisma.Sql {
  const changes = Prisma.join([Prisma.sql`version = version + 1`, ...ends]);
  return Prisma.sql`
    UPDATE run_totals_range SET ${changes} WHERE version = ${version}
    RETURNING counted_from, counted_until`;
}
