import type { RunFilter } from '../../../../generated/operations/console.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The longest periods that the server counts by hour, and at all. */
const BY_HOUR_MS = 7 * DAY_MS;
const LONGEST_MS = 366 * DAY_MS;

/** The period of the charts, in milliseconds since the epoch. */
export type Period = { from: number; to: number; byHour: boolean };

/** The period that a filter selects: its last 366 days, or the last 24 hours if it has no start. */
export function periodOf({ date, from, to }: RunFilter, now: number): Period {
  const day = date ? Date.parse(`${date}T00:00:00Z`) : undefined;
  const starts = [day, from ? Date.parse(from) : undefined].filter((time) => time !== undefined);
  const ends = [day === undefined ? undefined : day + DAY_MS, to ? Date.parse(to) : undefined];
  const end = Math.min(...ends.filter((time) => time !== undefined), now);
  const start = starts.length > 0 ? Math.max(...starts) : end - DAY_MS;
  // A period in the future, or without length, is empty.
  const last = Math.max(end, start + 1);
  const first = Math.max(start, last - LONGEST_MS);
  return { from: first, to: last, byHour: last - first <= BY_HOUR_MS };
}

/** The conditions without those on the time. */
export function withoutTime({ date, from, to, ...others }: RunFilter): RunFilter {
  return others;
}

/** The length of a bucket, in milliseconds. */
export function bucketMs({ byHour }: Period): number {
  return byHour ? HOUR_MS : DAY_MS;
}
