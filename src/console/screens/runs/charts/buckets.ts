import type { RunStatsQuery } from '../../../../generated/operations/console.ts';
import { bucketMs, type Period } from './period.ts';

export type Stats = NonNullable<RunStatsQuery['bot']>['stats'];

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

export function bucketsOf({ perHour, perDay }: Stats, period: Period): Bucket[] {
  const length = bucketMs(period);
  if (perHour)
    return perHour.map(({ startedAt, ...numbers }) => {
      const from = Date.parse(startedAt);
      return { ...numbers, from, to: from + length, label: hour.format(from) };
    });
  return (perDay ?? []).map(({ date, ...numbers }) => {
    const from = Date.parse(`${date}T00:00:00Z`);
    return { ...numbers, from, to: from + length, label: `${day.format(from)}, UTC` };
  });
}
