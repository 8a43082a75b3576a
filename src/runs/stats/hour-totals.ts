import { Prisma } from '../../generated/prisma/client.ts';
import { moment } from '../../storage/moment.ts';
import { hasOnlyTimeOrText } from '../list/branches.ts';
import { boundsOf, matchesEnums, type RunFilter } from '../list/filter.ts';
import type { StatsQuestion } from './stats-period.ts';

/** The runs of a bot between two times, in milliseconds. The start is inclusive, the end exclusive. */
export type TimeRange = { from: number; to: number };

/** Sources of statistics, for a bot `owner.id`. Each run of the range is in one of the two. */
export type HourTotals = {
  range: TimeRange;
  /** Rows of `run_hours`, under the name `runs`. */
  totals: Prisma.Sql;
  /** Runs of the time without totals. */
  rest: Prisma.Sql;
};

const HOUR_MS = 60 * 60 * 1_000;

/** Whether a filter selects by nothing but the time. */
export function hasOnlyTime(filter: RunFilter): boolean {
  return hasOnlyTimeOrText(filter) && filter.text == null;
}

/** The time that the period and the filter have in common. */
export function timeRangeOf({ from, to, filter }: StatsQuestion): TimeRange {
  const bounds = boundsOf(filter ?? {});
  const limits = (side: 'asc' | 'desc') =>
    bounds.filter(({ direction }) => direction === side).map(({ place }) => place[0]);
  return {
    from: Math.max(from.getTime(), ...limits('asc')),
    to: Math.min(to.getTime(), ...limits('desc')),
  };
}

/**
 * The hours with totals, and the other runs, of a period. `undefined` if the filter selects by more than the time and the
 * columns of the totals.
 */
export function hourTotals(question: StatsQuestion): HourTotals | undefined {
  const { kind, environment, channel, status, ...others } = question.filter ?? {};
  if (!hasOnlyTime(others)) return undefined;
  const range = timeRangeOf(question);
  const conditions = Prisma.join(matchesEnums({ kind, environment, channel, status }), ' AND ');
  const stored = Prisma.sql`
    bot_id = owner.id AND hour >= ${moment(Math.ceil(range.from / HOUR_MS) * HOUR_MS)}
      AND hour < ${moment(Math.floor(range.to / HOUR_MS) * HOUR_MS)}`;
  // `OFFSET 0` makes the planner read each gap by the index: it expects far more gaps than there are.
  const start = moment(range.from);
  const end = moment(range.to);
  return {
    range,
    totals: Prisma.sql`
      SELECT * FROM run_hours AS runs WHERE ${stored} AND ${conditions}`,
    rest: Prisma.sql`
      SELECT runs.* FROM (
        SELECT hour + interval '1 hour' AS start, COALESCE(lead(hour) OVER (ORDER BY hour), ${end}) AS "end"
        FROM (SELECT DISTINCT hour FROM run_hours WHERE ${stored}) AS stored
        UNION ALL
        SELECT ${start}, COALESCE((SELECT min(hour) FROM run_hours WHERE ${stored}), ${end})
      ) AS gap CROSS JOIN LATERAL (
        SELECT * FROM runs
        WHERE bot_id = owner.id AND created_at >= gap.start AND created_at < gap.end AND ${conditions}
        OFFSET 0
      ) AS runs WHERE gap.start < gap.end`,
  };
}
