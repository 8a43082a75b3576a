import { invalidInput } from '../errors.ts';
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import { moment } from '../storage/moment.ts';
import { matches, type RunFilter } from './filter.ts';
import { containsWords, marksOf } from './text-search.ts';

/** Selects the runs that statistics count. */
export type StatsQuestion = {
  /** The earliest time of creation, inclusive. */
  from: Date;
  /** The latest time of creation, exclusive. */
  to: Date;
  filter?: RunFilter | null | undefined;
};

/** The length of the parts of a period: UTC days or UTC hours. */
export type Unit = 'day' | 'hour';

/** Totals of a bot's runs that were created in a part of a period. */
export type Counts = {
  /** The start of the UTC day or hour. */
  startedAt: Date;
  runs: number;
  failed: number;
  /** Prompt and completion tokens together. */
  tokens: number;
};

/** Latencies of finished runs in milliseconds. */
export type Latencies = {
  /** The median. */
  p50: number;
  /** The 95th percentile. */
  p95: number;
};

/** How many runs have a rating, by at least one author. */
export type Ratings = { up: number; down: number };

/** Computes statistics of bots, each in one statement for all bots. */
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
   * Computes latencies of the runs that match, for each day or hour, or without a unit for the whole period.
   *
   * @returns a function from a bot's id and the start of a part (of the period, without a unit) to its latencies;
   *   `undefined` if no run has finished. The errors are those of `count`.
   */
  latencies(
    botIds: string[],
    question: StatsQuestion,
    unit?: Unit,
  ): Promise<(botId: string) => (startedAt: Date) => Latencies | undefined>;
  /** Counts the ratings of the runs that match. The result and the errors are as those of `latencies`. */
  ratings(
    botIds: string[],
    question: StatsQuestion,
    unit?: Unit,
  ): Promise<(botId: string) => (startedAt: Date) => Ratings | undefined>;
};

const MAX_DAYS: Record<Unit, number> = { day: 366, hour: 7 };
const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;
const LENGTH_MS: Record<Unit, number> = { day: DAY_MS, hour: HOUR_MS };
/** The range of dates that `YYYY-MM-DD` can express. */
const CALENDAR = { from: Date.parse('0001-01-01'), to: Date.parse('+010000-01-01') };

type Row = { botId: string; part: number };

export function createRunStats({ prisma }: { prisma: PrismaClient }): RunStats {
  return {
    async count(botIds, question, unit) {
      assertPeriod(question, unit);
      const rows = await prisma.$queryRaw<(Row & Omit<Counts, 'startedAt'>)[]>`
        SELECT bot_id AS "botId", ${partOf(unit)} AS part,
          count(*)::float8 AS runs,
          (count(*) FILTER (WHERE status = 'FAILED'))::float8 AS failed,
          sum(prompt_tokens::float8 + completion_tokens) AS tokens
        FROM runs WHERE ${where(botIds, question)} GROUP BY 1, 2`;
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
      const part = unit ? partOf(unit) : Prisma.sql`0::float8`;
      const rows = await prisma.$queryRaw<(Row & Latencies)[]>`
        SELECT bot_id AS "botId", ${part} AS part,
          percentile_cont(0.5) WITHIN GROUP (ORDER BY latency_ms) AS p50,
          percentile_cont(0.95) WITHIN GROUP (ORDER BY latency_ms) AS p95
        FROM runs WHERE ${where(botIds, question)} AND latency_ms IS NOT NULL
        GROUP BY 1, 2`;
      return lookUp(rows, unit);
    },

    async ratings(botIds, question, unit) {
      assertPeriod(question, unit ?? 'day');
      const part = unit ? partOf(unit) : Prisma.sql`0::float8`;
      const rows = await prisma.$queryRaw<(Row & Ratings)[]>`
        SELECT bot_id AS "botId", ${part} AS part,
          (count(DISTINCT id) FILTER (WHERE rating = 'UP'))::float8 AS up,
          (count(DISTINCT id) FILTER (WHERE rating = 'DOWN'))::float8 AS down
        FROM runs JOIN (
          SELECT run_id, rating FROM feedback WHERE bot_id = ANY(${botIds})
            AND run_created_at >= ${moment(question.from.getTime())}
            AND run_created_at < ${moment(question.to.getTime())}
        ) AS rated ON rated.run_id = runs.id
        WHERE ${where(botIds, question)} GROUP BY 1, 2`;
      return lookUp(rows, unit);
    },
  };
}

/** A function from a bot's id and the start of a part to its row. */
function lookUp<Known extends Row>(rows: Known[], unit: Unit | undefined) {
  const known = new Map(rows.map((row) => [`${row.botId} ${row.part}`, row]));
  return (botId: string) => (startedAt: Date) => {
    const part = unit ? startedAt.getTime() / LENGTH_MS[unit] : 0;
    return known.get(`${botId} ${part}`);
  };
}

/** The number of the UTC day or hour of creation, counted from 1970. */
function partOf(unit: Unit): Prisma.Sql {
  return Prisma.sql`floor(extract(epoch FROM created_at)::float8 / ${LENGTH_MS[unit] / 1_000}::float8)`;
}

function where(botIds: string[], { from, to, filter }: StatsQuestion): Prisma.Sql {
  const { text, ...others } = filter ?? {};
  const [botId = ''] = botIds;
  const marks =
    botIds.length === 1
      ? marksOf(botId, from.getTime(), to.getTime())
      : botIds.map((id) => marksOf(id, -Infinity, Infinity)).join(' | ');
  const conditions = [
    Prisma.sql`bot_id = ANY(${botIds})`,
    Prisma.sql`created_at >= ${moment(from.getTime())}`,
    Prisma.sql`created_at < ${moment(to.getTime())}`,
    ...matches(others),
    ...(text == null ? [] : containsWords(text, marks)),
  ];
  return Prisma.join(conditions, ' AND ');
}

function assertPeriod({ from, to }: StatsQuestion, unit: Unit): void {
  if (from.getTime() < CALENDAR.from) throw invalid('from', 'must not be before the year 1');
  if (to.getTime() > CALENDAR.to) throw invalid('to', 'must not be after the year 9999');
  if (to <= from) throw invalid('to', 'must be after from');
  if (to.getTime() - from.getTime() > MAX_DAYS[unit] * DAY_MS) {
    const what = unit === 'hour' ? ' for perHour' : '';
    throw invalid('to', `must be at most ${MAX_DAYS[unit]} days after from${what}`);
  }
}

function invalid(path: 'from' | 'to', message: string) {
  return invalidInput([{ path, message }]);
}

/** The numbers of the UTC days or hours that overlap a period. */
function partsOf({ from, to }: StatsQuestion, unit: Unit): number[] {
  const length = LENGTH_MS[unit];
  const first = Math.floor(from.getTime() / length);
  const end = Math.ceil(to.getTime() / length);
  return Array.from({ length: end - first }, (_, index) => first + index);
}
