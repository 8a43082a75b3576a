import { invalidInput } from '../../errors/errors.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { PageQuery } from '../../storage/keyset.ts';
import { hasOnlyTimeOrText } from '../list/branches.ts';
import { boundsOf, type RunFilter } from '../list/filter.ts';

/** A period of statistics. */
export type StatsPeriod = {
  /** The earliest time of creation, inclusive. */
  from: Date;
  /** The latest time of creation, exclusive. */
  to: Date;
};

/** Selects the runs that statistics count. */
export type StatsQuestion = StatsPeriod & { filter?: RunFilter | null | undefined };

/** The runs of a bot between two times, in milliseconds. The start is inclusive, the end exclusive. */
export type TimeRange = { from: number; to: number };

/** The length of the parts of a period: UTC days or UTC hours. */
export type Unit = 'day' | 'hour';

const MAX_DAYS: Record<Unit, number> = { day: 366, hour: 7 };
const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;
/** The length of a part. */
export const LENGTH_MS: Record<Unit, number> = { day: DAY_MS, hour: HOUR_MS };
/** The range of dates that `YYYY-MM-DD` can express. */
const CALENDAR = { from: Date.parse('0001-01-01'), to: Date.parse('+010000-01-01') };

/** The number of the UTC day or hour of a time, counted from 1970; 0 without a unit. */
export function partOf(unit: Unit | undefined, time = Prisma.sql`created_at`): Prisma.Sql {
  if (!unit) return Prisma.sql`0::float8`;
  return Prisma.sql`floor(date_part('epoch', ${time}) / ${LENGTH_MS[unit] / 1_000}::float8)`;
}

/** @throws GatewayError `invalid_request` as `RunStats.count` describes. */
export function assertPeriod({ from, to }: StatsPeriod, unit: Unit): void {
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
export function partsOf({ from, to }: StatsPeriod, unit: Unit): number[] {
  const length = LENGTH_MS[unit];
  const first = Math.floor(from.getTime() / length);
  const end = Math.ceil(to.getTime() / length);
  return Array.from({ length: end - first }, (_, index) => first + index);
}

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

/** A time range as bounds of a list. */
export function boundsBetween({ from, to }: TimeRange): PageQuery['bounds'] {
  return boundsOf({ from: new Date(from), to: new Date(to) });
}
