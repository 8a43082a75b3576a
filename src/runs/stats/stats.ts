import { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../storage/database.ts';
import { matchesEnums } from '../list/filter.ts';
import {
  createLatencyCounter,
  encodedLatency,
  joinedLatencies,
  type Latencies,
  latencyRange,
} from './latencies.ts';
import { createReadMatchingRuns } from './matching-runs.ts';
import { createCountRatings, type Ratings } from './ratings.ts';
import {
  assertPeriod,
  hasOnlyTime,
  LENGTH_MS,
  partOf,
  partsOf,
  type StatsQuestion,
  timeRangeOf,
  type Unit,
} from './stats-period.ts';
import { countedRuns, coverage, TOKENS } from './totals.ts';

/** Totals of a bot's runs that were created in a part of a period. */
export type Counts = {
  /** The start of the UTC day or hour. */
  startedAt: Date;
  runs: number;
  failed: number;
  /** Prompt and completion tokens together. */
  tokens: number;
};

/**
 * Computes statistics of bots, each in few statements for all bots. They are read from totals if the filter selects by time,
 * kind, environment, channel and status only; their cost does not depend on the number of runs then, but for runs of the
 * last minutes, and of the hours in which a period begins and ends.
 */
export type RunStats = {
  /**
   * Counts the runs that match, for each day or hour.
   *
   * @returns a function from a bot's id to all parts of the period in order, including those without runs.
   * @throws GatewayError `invalid_request` if the period is empty, longer than 366 days (by hour: 7 days), or outside the
   *   years 1 to 9999 UTC.
   */
  count(
    botIds: string[],
    question: StatsQuestion,
    unit: Unit,
  ): Promise<(botId: string) => Counts[]>;
  /**
   * Estimates latencies of the runs that match, for each day or hour, or without a unit for the whole period.
   *
   * @returns a function from a bot's id and the start of a part (of the period, without a unit) to its latencies;
   *   `undefined` if no run has finished. The errors are the same as of `count`.
   */
  latencies(
    botIds: string[],
    question: StatsQuestion,
    unit?: Unit,
  ): Promise<(botId: string) => (startedAt: Date) => Latencies | undefined>;
  /** Counts the ratings of the runs that match. The result and the errors are the same as of `latencies`. */
  ratings(
    botIds: string[],
    question: StatsQuestion,
    unit?: Unit,
  ): Promise<(botId: string) => (startedAt: Date) => Ratings | undefined>;
};

type Row = { botId: string; part: number };
type CountRow = Row & Omit<Counts, 'startedAt'>;
type LatencyRow = Row & { encoded: string | null };

export function createRunStats({ prisma, search }: Pick<Database, 'prisma' | 'search'>): RunStats {
  const readMatching = createReadMatchingRuns({ prisma, search });
  const countRatings = createCountRatings({ prisma, readMatching });

  /** Sums up `countedRuns` for each bot and part. @param sums the columns. */
  const readTotals = <Rows>(
    botIds: string[],
    question: StatsQuestion,
    unit: Unit | undefined,
    sums: Prisma.Sql,
  ) => {
    const range = timeRangeOf(question);
    const conditions = Prisma.join(matchesEnums(question.filter ?? {}), ' AND ');
    return prisma.$queryRaw<Rows>`
      SELECT owner.id AS "botId", ${partOf(unit, Prisma.sql`at`)} AS part, ${sums}
      FROM (${coverage(range, unit)}) AS covered, unnest(${botIds}::text[]) AS owner(id),
        LATERAL (${countedRuns(range, conditions)}) AS counted
      GROUP BY 1, 2`;
  };

  const readCounts = (botIds: string[], question: StatsQuestion, unit: Unit) => {
    const sums = (runs: Prisma.Sql, tokens: Prisma.Sql) => Prisma.sql`
      sum(${runs})::float8 AS runs,
      COALESCE(sum(${runs}) FILTER (WHERE status = 'FAILED'), 0)::float8 AS failed,
      sum(${tokens})::float8 AS tokens`;
    return hasTotals(question)
      ? readTotals<CountRow[]>(botIds, question, unit, sums(Prisma.sql`runs`, Prisma.sql`tokens`))
      : readMatching<CountRow[]>(
          botIds,
          question,
          (where) => Prisma.sql`
            SELECT bot_id AS "botId", ${partOf(unit)} AS part, ${sums(Prisma.sql`1`, TOKENS)}
            FROM runs WHERE ${where} GROUP BY 1, 2`,
        );
  };

  const readLatencies = (botIds: string[], question: StatsQuestion, unit: Unit | undefined) => {
    const sums = (latencies: Prisma.Sql) => Prisma.sql`${joinedLatencies(latencies)} AS encoded`;
    return hasTotals(question)
      ? readTotals<LatencyRow[]>(botIds, question, unit, sums(Prisma.sql`latencies`))
      : readMatching<LatencyRow[]>(
          botIds,
          question,
          (where) => Prisma.sql`
            SELECT "botId", part, ${sums(encodedLatency(Prisma.sql`range`, Prisma.sql`runs`))}
            FROM (
              SELECT bot_id AS "botId", ${partOf(unit)} AS part,
                ${latencyRange(Prisma.sql`latency_ms`)} AS range, count(*) AS runs
              FROM runs WHERE ${where} AND latency_ms IS NOT NULL GROUP BY 1, 2, 3
            ) AS counted GROUP BY 1, 2`,
        );
  };

  return {
    async count(botIds, question, unit) {
      assertPeriod(question, unit);
      const rows = await readCounts(botIds, question, unit);
      const ofBot = Map.groupBy(rows, ({ botId }) => botId);
      return (botId) => {
        const byPart = new Map(ofBot.get(botId)?.map((row) => [row.part, row]));
        return partsOf(question, unit).map((part) => {
          const { runs = 0, failed = 0, tokens = 0 } = byPart.get(part) ?? {};
          return { startedAt: new Date(part * LENGTH_MS[unit]), runs, failed, tokens };
        });
      };
    },

    async latencies(botIds, question, unit) {
      assertPeriod(question, unit ?? 'day');
      const rows = await readLatencies(botIds, question, unit);
      const counter = createLatencyCounter();
      const known = rows.flatMap(({ botId, part, encoded }) => {
        counter.add(encoded ?? '');
        const latencies = counter.take();
        return latencies ? [{ botId, part, ...latencies }] : [];
      });
      return lookUp(known, unit);
    },

    async ratings(botIds, question, unit) {
      assertPeriod(question, unit ?? 'day');
      return lookUp(await countRatings(botIds, question, unit), unit);
    },
  };
}

/** Whether totals have the columns that a filter selects by. */
function hasTotals({ filter }: StatsQuestion): boolean {
  const { kind: _, environment: __, channel: ___, status: ____, ...others } = filter ?? {};
  return hasOnlyTime(others);
}

/** A function from a bot's id and the start of a part to its row. */
function lookUp<Known extends Row>(rows: Known[], unit: Unit | undefined) {
  const known = new Map(rows.map((row) => [`${row.botId} ${row.part}`, row]));
  return (botId: string) => (startedAt: Date) => {
    const part = unit ? startedAt.getTime() / LENGTH_MS[unit] : 0;
    return known.get(`${botId} ${part}`);
  };
}
