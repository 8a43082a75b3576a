import { Prisma, type PrismaClient, type RunStatus } from '../../generated/prisma/client.ts';
import type { Log } from '../../observability/log.ts';
import { moment } from '../../storage/moment.ts';
import { encodeLatencies, type LatencyCount } from './latencies.ts';

/** A period of a bot's runs, in milliseconds since 1970. */
export type RunPeriod = { botId: string; from: number; to: number };

/** Stores totals of past hours, from which statistics are read. */
export type RunHours = AsyncDisposable & {
  /**
   * Stores the totals of the past hours in a period that have none. Stops early while runs of past hours are changed, or
   * while another process stores totals.
   */
  store(period: RunPeriod): Promise<void>;
  /** As `store`, for one period after the other. Does not start while it is at work. It does not reject. */
  storeAll(periods: RunPeriod[]): Promise<void>;
};

/** The lock of the totals: "prlh" in ASCII. The migration `run_hours` has the same number. */
const LOCK = 0x70726c68;
const HOUR_MS = 60 * 60 * 1_000;
/** A transaction stores this much time. */
const STEP_MS = 24 * HOUR_MS;
/** The youngest hour with totals ended this long ago. Longer than any transaction, see the triggers. */
const PAST = Prisma.sql`interval '2 hours'`;
/** The limits of a step, in milliseconds. */
const TRANSACTION = { maxWait: 30_000, timeout: 30_000 };

/** The end of the past hours, as SQL. */
export const PAST_UNTIL = Prisma.sql`date_trunc('hour', now() - ${PAST}, 'UTC')`;

type Row = Prisma.RunHourGetPayload<{ omit: { latencies: true } }> & { latency: number | null };

const UNFINISHED: RunStatus[] = ['QUEUED', 'RUNNING'];

export function createRunHours({ prisma, log }: { prisma: PrismaClient; log: Log }): RunHours {
  const stopped = new AbortController();
  let working: Promise<void> | undefined;

  /** @returns whether the lock was free. */
  const storeStep = ({ botId, from, to }: RunPeriod) =>
    prisma.$transaction(async (tx) => {
      // A statement of its own: the next one has to see all changes made before the lock was free.
      const [lock] = await tx.$queryRaw<{ isFree: boolean }[]>`
        SELECT pg_try_advisory_xact_lock(${LOCK}::bigint) AS "isFree"`;
      if (!lock?.isFree) return false;
      const rows = await tx.$queryRaw<Row[]>`
        SELECT ${botId} AS "botId", missing.hour, counted.*
        FROM (
          SELECT hour FROM generate_series(${moment(from)}, ${moment(to)}, interval '1 hour') AS hours(hour)
          WHERE hours.hour < LEAST(${moment(to)}, ${PAST_UNTIL})
            AND NOT EXISTS (SELECT 1 FROM run_hours WHERE bot_id = ${botId} AND run_hours.hour = hours.hour)
          -- The hours are found before runs are read.
          OFFSET 0
        ) AS missing
        CROSS JOIN LATERAL (
          SELECT kind, environment, channel, status, latency_ms AS latency, count(*)::int AS runs,
            sum(prompt_tokens::bigint + completion_tokens)::bigint AS tokens
          FROM runs
          WHERE bot_id = ${botId} AND created_at >= missing.hour AND created_at < missing.hour + interval '1 hour'
          GROUP BY 1, 2, 3, 4, 5
        ) AS counted
        ORDER BY 2, latency`;
      await tx.runHour.createMany({ data: totalsOf(rows) });
      return true;
    }, TRANSACTION);

  const store = async ({ botId, from, to }: RunPeriod) => {
    const end = Math.min(Math.floor(to / HOUR_MS) * HOUR_MS, Date.now());
    for (let at = Math.ceil(from / HOUR_MS) * HOUR_MS; at < end; at += STEP_MS) {
      if (stopped.signal.aborted) return;
      if (!(await storeStep({ botId, from: at, to: Math.min(at + STEP_MS, end) }))) return;
    }
  };

  const attempt = async (periods: RunPeriod[]) => {
    try {
      for (const period of periods) await store(period);
    } catch (err) {
      log.error({ err }, 'Storing totals of runs failed. It will be retried.');
    }
  };

  return {
    store,
    async storeAll(periods) {
      if (stopped.signal.aborted || periods.length === 0) return;
      working ??= attempt(periods).finally(() => {
        working = undefined;
      });
      await working;
    },
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await working;
    },
  };
}

/** The totals of hours without unfinished runs. */
function totalsOf(rows: Row[]): Prisma.RunHourCreateManyInput[] {
  const hours = Map.groupBy(rows, ({ hour }) => hour.getTime());
  return [...hours.values()]
    .filter((ofHour) => ofHour.every(({ status }) => !UNFINISHED.includes(status)))
    .flatMap((ofHour) => {
      const groups = Map.groupBy(ofHour, ({ kind, environment, channel, status }) =>
        [kind, environment, channel, status].join(),
      );
      return [...groups.values()].flatMap(totalOf);
    });
}

/** The total of rows that differ in their latencies only. */
function totalOf(rows: Row[]): Prisma.RunHourCreateManyInput[] {
  const counts = rows.flatMap(({ latency, runs }): LatencyCount[] =>
    latency === null ? [] : [[latency, runs]],
  );
  return rows.slice(0, 1).map(({ latency: _, ...columns }) => ({
    ...columns,
    runs: rows.reduce((sum, { runs }) => sum + runs, 0),
    tokens: rows.reduce((sum, { tokens }) => sum + tokens, 0n),
    latencies: encodeLatencies(counts),
  }));
}
