import type { RunRatingsQuery, RunStatsQuery } from '../../../../generated/operations/console.ts';
import { bucketMs, type Period } from './period.ts';

export type Stats = NonNullable<RunStatsQuery['bot']>['stats'];
export type Ratings = NonNullable<RunRatingsQuery['bot']>['stats'];

/** The statistics of one UTC hour or day. */
export type Bucket = {
  /** Its first moment, in milliseconds since the epoch. */
  from: number;
  to: number;
  label: string;
  runs: number;
  failed: number;
  latencyP50: number | null;
  latencyP95: number | null;
  tokens: number;
  /** Zero until the ratings are read. */
  thumbsUp: number;
  thumbsDown: number;
};

const hour = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** @param ratings of the same hours or days. */
export function bucketsOf(
  { perHour, perDay }: Stats,
  ratings: Ratings | undefined,
  period: Period,
): Bucket[] {
  const length = bucketMs(period);
  const rated = ratings?.perHour ?? ratings?.perDay ?? [];
  const ratingsAt = (index: number) => rated[index] ?? { thumbsUp: 0, thumbsDown: 0 };
  if (perHour)
    return perHour.map(({ startedAt, ...numbers }, index) => {
      const from = Date.parse(startedAt);
      return {
        ...numbers,
        ...ratingsAt(index),
        from,
        to: from + length,
        label: hour.format(from),
      };
    });
  return (perDay ?? []).map(({ date, ...numbers }, index) => {
    const from = Date.parse(`${date}T00:00:00Z`);
    return {
      ...numbers,
      ...ratingsAt(index),
      from,
      to: from + length,
      label: `${day.format(from)}, UTC`,
    };
  });
}
