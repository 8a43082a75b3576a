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
  runs: number;
  failed: number;
  /** Prompt and completion tokens together. */
  tokens: number;
};

/** A function from a bot's id and the start of a part (of the period, without a unit); `undefined` for a part without them. */
type Parts<Value> = (botId: string) => (startedAt: Date) => Value | undefined;

/**
 * Computes statistics of bots. They are read from totals if the filter selects by time, kind, environment, channel and status
 * only; their cost does not depend on the number of runs then, but for runs of the last minutes, and of the hours in which a
 * period begins and ends. With another filter, they read at most `MAX_READ` runs, and ratings are counted up to a bound.
 */
export type RunStats = {
  /** Reads nothing yet. */
  of(botIds: string[], question: StatsQuestion): StatsReader;
};

/**
 * Reads statistics of the runs of bots that match a question, for each day or hour, or without a unit for the whole period. All
 * bots have the same statements, and none is repeated.
 *
 * All throw GatewayError `invalid_request` if the period is empty, longer than 366 days (by hour: 7 days), or outside the years
 * 1 to 9999 UTC, and `search_too_broad` if there is too much to read.
 */
export type StatsReader = {
  /** The starts of all days or hours of the period, in order. */
  starts(unit: Unit): Date[];
  counts(unit?: Unit): Promise<Parts<Counts>>;
  /** Estimates the latencies of finished runs. */
  latencies(unit?: Unit): Promise<Parts<Latencies>>;
  /** Counts the runs with ratings. */
  ratings(unit?: Unit): Promise<Parts<Ratings>>;
};

/** The runs of a bot in a part of a period. */
type Row = { botId: string; part: number };
type CountRow = Row & Counts;
/** Latencies as `encodedLatency` encodes them. */
type LatencyRow = Row & { encoded: string | null };

/** The sums of totals. */
const COUNTS = Prisma.sql`
  sum(runs)::float8 AS runs, COALESCE(sum(runs) FILTER (WHERE status = 'FAILED'), 0)::float8 AS failed,
  sum(tokens)::float8 AS tokens`;
const LATENCIES = Prisma.sql`${joinedLatencies(Prisma.sql`latencies`)} AS encoded`;

/** @param limits override the bounds of the work. */
export function createRunStats({
  prisma,
  search,
  limits = {},
}: Pick<Database, 'prisma' | 'search'> & {
  limits?: { maxRead?: number; maxRatings?: number };
}): RunStats {
  const readMatching = createReadMatchingRuns({ prisma, search, ...limits });
  const countRatings = createCountRatings({ prisma, readMatching, ...limits });

  /** Sums up `countedRuns` for each bot and part. @param sums the columns. */
  const readTotals = <Rows>(
    botIds: string[],
    question: StatsQuestion,
    unit: Unit,
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

  /** Reads the runs themselves once for all statistics. Each part is an hour. */
  const readRuns = (botIds: string[], question: StatsQuestion) =>
    readMatching<(CountRow & LatencyRow)[]>(
      botIds,
      question,
      (runs) => Prisma.sql`
        SELECT owner.id AS "botId", ${partOf('hour', Prisma.sql`runs.created_at`)} AS part, count(*)::float8 AS runs,
          (count(*) FILTER (WHERE runs.status = 'FAILED'))::float8 AS failed, sum(${TOKENS})::float8 AS tokens,
          ${joinedLatencies(encodedLatency(latencyRange(Prisma.sql`runs.latency_ms`), Prisma.sql`1`))} AS encoded
        FROM ${runs} GROUP BY 2, 1`,
    );

  return {
    of(botIds, question) {
      const ofRuns = onceOf(() => readRuns(botIds, question));
      const ofTotals = <Rows>(unit: Unit, sums: Prisma.Sql) =>
        readTotals<Rows>(botIds, question, unit, sums);
      const matching = async (unit: Unit) => inUnits(await ofRuns('hour'), unit);
      const isCounted = hasTotals(question);
      const countRows = onceOf(
        (unit): Promise<CountRow[]> => (isCounted ? ofTotals(unit, COUNTS) : matching(unit)),
      );
      const latencyRows = onceOf(
        (unit): Promise<LatencyRow[]> => (isCounted ? ofTotals(unit, LATENCIES) : matching(unit)),
      );
      const ratingRows = onceOf((unit) => countRatings(botIds, question, unit));
      /** @param read reads rows of days for the whole period. */
      const parts =
        <Known extends Row, Value>(
          read: (unit: Unit) => Promise<Known[]>,
          sumUp: (rows: Known[]) => Value | undefined,
        ) =>
        async (unit?: Unit): Promise<Parts<Value>> => {
          assertPeriod(question, unit ?? 'day');
          return byStart(await read(unit ?? 'day'), unit, sumUp);
        };
      return {
        starts(unit) {
          assertPeriod(question, unit);
          return partsOf(question, unit).map((part) => new Date(part * LENGTH_MS[unit]));
        },
        counts: parts(countRows, (rows) => sumOf(rows, ['runs', 'failed', 'tokens'])),
        latencies: parts(latencyRows, createPercentiles()),
        ratings: parts(ratingRows, (rows) => sumOf(rows, ['up', 'down'])),
      };
    },
  };
}

/** Whether totals have the columns that a filter selects by. */
function hasTotals({ filter }: StatsQuestion): boolean {
  const { kind: _, environment: __, channel: ___, status: ____, ...others } = filter ?? {};
  return hasOnlyTime(others);
}

/** Rows of hours as rows of longer parts, several for each. */
function inUnits<Known extends Row>(rows: Known[], unit: Unit): Known[] {
  const hours = LENGTH_MS[unit] / LENGTH_MS.hour;
  return rows.map((row) => ({ ...row, part: Math.floor(row.part / hours) }));
}

/** A function that adds up the latencies of rows. */
function createPercentiles() {
  const counter = createLatencyCounter();
  return (rows: LatencyRow[]) => {
    for (const { encoded } of rows) counter.add(encoded ?? '');
    return counter.take();
  };
}

/** What the rows of each part give together. */
function byStart<Known extends Row, Value>(
  rows: Known[],
  unit: Unit | undefined,
  sumUp: (rows: Known[]) => Value | undefined,
): Parts<Value> {
  const keyOf = (botId: string, part: number) => `${botId} ${unit ? part : ''}`;
  const groups = Map.groupBy(rows, ({ botId, part }) => keyOf(botId, part));
  const sums = new Map([...groups].map(([key, group]) => [key, sumUp(group)]));
  return (botId: string) => (startedAt: Date) =>
    sums.get(keyOf(botId, startedAt.getTime() / LENGTH_MS[unit ?? 'day']));
}

/** The sum of each column of rows. */
function sumOf<Name extends string>(rows: Record<Name, number>[], names: readonly Name[]) {
  const sum = (name: Name) => rows.reduce((total, row) => total + row[name], 0);
  return Object.fromEntries(names.map((name) => [name, sum(name)])) as Record<Name, number>;
}

/** A function that reads once for each unit. */
function onceOf<Rows>(read: (unit: Unit) => Promise<Rows>): (unit: Unit) => Promise<Rows> {
  const byUnit = new Map<Unit, Promise<Rows>>();
  return (unit) => byUnit.get(unit) ?? setIn(byUnit, unit, read(unit));
}

function setIn<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): Value {
  map.set(key, value);
  return value;
}
