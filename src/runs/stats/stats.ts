import { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../storage/database.ts';
import { moment } from '../../storage/moment.ts';
import { matches } from '../list/filter.ts';
import { limitedReader } from '../search/search-limit.ts';
import { marksOf } from '../search/search-marks.ts';
import { assertNarrow, containsWords, unindexed } from '../search/text-search.ts';
import { type HourTotals, hasOnlyTime, hourTotals, timeRangeOf } from './hour-totals.ts';
import { createLatencyCounter, type Latencies } from './latencies.ts';
import { PAST_UNTIL, type RunHours } from './run-hours.ts';
import {
  assertPeriod,
  LENGTH_MS,
  partOf,
  partsOf,
  type StatsQuestion,
  type Unit,
} from './stats-period.ts';

/** Totals of a bot's runs that were created in a part of a period. */
export type Counts = {
  /** The start of the UTC day or hour. */
  startedAt: Date;
  runs: number;
  failed: number;
  /** Prompt and completion tokens together. */
  tokens: number;
};

/** How many runs have a rating, by at least one author. */
export type Ratings = { up: number; down: number };

/**
 * Computes statistics of bots, each in few statements for all bots. They are read from the totals of past hours where
 * these exist and the filter selects by time, kind, environment, channel and status only.
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
   * Computes latencies of the runs that match, for each day or hour, or without a unit for the whole period.
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

/** If statistics of a bot read more runs of past hours than this one by one, the totals of these hours are stored. */
const MANY = 1_000;

export function createRunStats({
  prisma,
  search,
  runHours,
}: Pick<Database, 'prisma' | 'search'> & { runHours: Pick<RunHours, 'storeAll'> }): RunStats {
  /** Reads runs one by one, with the limits of a search if the filter has a text. */
  const readEach = async <Rows>(
    botIds: string[],
    question: StatsQuestion,
    statement: (where: Prisma.Sql) => Prisma.Sql,
  ) => {
    const text = question.filter?.text;
    const owned = [
      Prisma.sql`bot_id = ANY(${botIds})`,
      Prisma.sql`created_at >= ${moment(question.from.getTime())}`,
      Prisma.sql`created_at < ${moment(question.to.getTime())}`,
    ];
    const fields = matches({ ...question.filter, text: undefined });
    if (text == null)
      return prisma.$queryRaw<Rows>(statement(Prisma.join([...owned, ...fields], ' AND ')));
    // The marks select the bot and the time.
    const others = Prisma.join([...owned.map(unindexed), ...fields], ' AND ');
    const reader = limitedReader(search);
    const marks = marksIn(botIds, question);
    if (!search.endsStatements) await assertNarrow(reader, text, marks, others);
    return reader.$queryRaw<Rows>(
      statement(Prisma.join([others, ...containsWords(text, marks)], ' AND ')),
    );
  };

  const countOneByOne = (botIds: string[], question: StatsQuestion, unit: Unit) =>
    readEach<CountRow[]>(
      botIds,
      question,
      (where) => Prisma.sql`
        SELECT bot_id AS "botId", ${partOf(unit)} AS part, ${COUNTS}
        FROM runs WHERE ${where} GROUP BY 1, 2`,
    );

  const countByTotals = async (
    botIds: string[],
    { range, totals, rest }: HourTotals,
    unit: Unit,
  ) => {
    const rows = await prisma.$queryRaw<(CountRow & { past: number })[]>`
      SELECT owner.id AS "botId", part,
        sum(runs) AS runs, sum(failed) AS failed, sum(tokens) AS tokens, sum(past) AS past
      FROM unnest(${botIds}::text[]) AS owner(id) CROSS JOIN LATERAL (
        SELECT ${partOf(unit, Prisma.sql`hour`)} AS part,
          sum(runs)::float8 AS runs,
          COALESCE(sum(runs) FILTER (WHERE status = 'FAILED'), 0)::float8 AS failed,
          sum(tokens::float8) AS tokens,
          0::float8 AS past
        FROM (${totals}) AS runs GROUP BY 1
        UNION ALL
        SELECT ${partOf(unit)} AS part, ${COUNTS},
          (count(*) FILTER (WHERE created_at < ${PAST_UNTIL}))::float8 AS past
        FROM (${rest}) AS runs GROUP BY 1
      ) AS counted GROUP BY 1, 2`;
    const past = Map.groupBy(rows, ({ botId }) => botId);
    const busy = botIds.filter(
      (id) => (past.get(id) ?? []).reduce((sum, row) => sum + row.past, 0) > MANY,
    );
    void runHours.storeAll(busy.map((botId) => ({ botId, ...range })));
    return rows;
  };

  const latenciesOneByOne = (botIds: string[], question: StatsQuestion, unit: Unit | undefined) =>
    readEach<(Row & Latencies)[]>(
      botIds,
      question,
      (where) => Prisma.sql`
        SELECT bot_id AS "botId", ${partOf(unit)} AS part,
          percentile_cont(0.5) WITHIN GROUP (ORDER BY latency_ms) AS p50,
          percentile_cont(0.95) WITHIN GROUP (ORDER BY latency_ms) AS p95
        FROM runs WHERE ${where} AND latency_ms IS NOT NULL
        GROUP BY 1, 2`,
    );

  const latenciesByTotals = async (
    botIds: string[],
    { totals, rest }: HourTotals,
    unit: Unit | undefined,
  ) => {
    // Text in base64 takes half the time of bytes.
    const rows = await prisma.$queryRaw<(Row & { encoded: string | null; each: string | null })[]>`
      SELECT owner.id AS "botId", known.*
      FROM unnest(${botIds}::text[]) AS owner(id) CROSS JOIN LATERAL (
        SELECT ${partOf(unit, Prisma.sql`hour`)} AS part,
          encode(string_agg(latencies, ''), 'base64') AS encoded, NULL AS "each"
        FROM (${totals}) AS runs GROUP BY 1
        UNION ALL
        SELECT ${partOf(unit)} AS part, NULL, encode(string_agg(int4send(latency_ms), ''), 'base64')
        FROM (${rest}) AS runs GROUP BY 1
      ) AS known`;
    const counter = createLatencyCounter();
    const parts = Map.groupBy(rows, ({ botId, part }) => `${botId} ${part}`);
    return [...parts.values()].flatMap((ofPart) => {
      for (const { encoded, each } of ofPart) {
        counter.addEncoded(Buffer.from(encoded ?? '', 'base64'));
        counter.addEach(Buffer.from(each ?? '', 'base64'));
      }
      const latencies = counter.take();
      const [row] = ofPart;
      return row && latencies ? [{ botId: row.botId, part: row.part, ...latencies }] : [];
    });
  };

  const ratingsOneByOne = (botIds: string[], question: StatsQuestion, unit: Unit | undefined) =>
    readEach<(Row & Ratings)[]>(
      botIds,
      question,
      (where) => Prisma.sql`
      SELECT bot_id AS "botId", ${partOf(unit)} AS part,
        (count(DISTINCT id) FILTER (WHERE rating = 'UP'))::float8 AS up,
        (count(DISTINCT id) FILTER (WHERE rating = 'DOWN'))::float8 AS down
      FROM runs JOIN (
        SELECT run_id, rating FROM feedback WHERE bot_id = ANY(${botIds})
          AND run_created_at >= ${moment(question.from.getTime())}
          AND run_created_at < ${moment(question.to.getTime())}
      ) AS rated ON rated.run_id = runs.id
      WHERE ${where} GROUP BY 1, 2`,
    );

  /** Counts the ratings by their index, without reading their runs. */
  const ratingsByTime = (botIds: string[], question: StatsQuestion, unit: Unit | undefined) => {
    const { from, to } = timeRangeOf(question);
    return prisma.$queryRaw<(Row & Ratings)[]>`
      SELECT owner.id AS "botId", rated.part,
        COALESCE(sum(rated.runs) FILTER (WHERE given.rating = 'UP'), 0) AS up,
        COALESCE(sum(rated.runs) FILTER (WHERE given.rating = 'DOWN'), 0) AS down
      FROM unnest(${botIds}::text[]) AS owner(id)
      CROSS JOIN unnest(enum_range(NULL::"FeedbackRating")) AS given(rating)
      CROSS JOIN LATERAL (
        SELECT ${partOf(unit, Prisma.sql`run_created_at`)} AS part, count(*)::float8 AS runs
        FROM (
          SELECT DISTINCT run_created_at, run_id FROM feedback
          WHERE bot_id = owner.id AND rating = given.rating
            AND run_created_at >= ${moment(from)} AND run_created_at < ${moment(to)}
            AND run_id NOT IN (SELECT id FROM runs WHERE bot_id = ANY(${botIds}) AND kind = 'DRAFT')
        ) AS run GROUP BY 1
      ) AS rated GROUP BY 1, 2`;
  };

  return {
    async count(botIds, question, unit) {
      assertPeriod(question, unit);
      const totals = hourTotals(question);
      const rows = totals
        ? await countByTotals(botIds, totals, unit)
        : await countOneByOne(botIds, question, unit);
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
      const totals = hourTotals(question);
      const rows = totals
        ? await latenciesByTotals(botIds, totals, unit)
        : await latenciesOneByOne(botIds, question, unit);
      return lookUp(rows, unit);
    },

    async ratings(botIds, question, unit) {
      assertPeriod(question, unit ?? 'day');
      const rows = hasOnlyTime(question.filter ?? {})
        ? await ratingsByTime(botIds, question, unit)
        : await ratingsOneByOne(botIds, question, unit);
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

/** The columns of `Counts`. */
const COUNTS = Prisma.sql`
  count(*)::float8 AS runs,
  (count(*) FILTER (WHERE status = 'FAILED'))::float8 AS failed,
  sum(prompt_tokens::float8 + completion_tokens) AS tokens`;

/** The marks of the runs of a question, for a search. */
function marksIn(botIds: string[], { from, to }: StatsQuestion): string {
  const [botId = ''] = botIds;
  return botIds.length === 1
    ? marksOf(botId, from.getTime(), to.getTime())
    : botIds.map((id) => marksOf(id, -Infinity, Infinity)).join(' | ');
}
