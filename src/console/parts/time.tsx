import { lazy } from '../../async/lazy.ts';
import { serverNow } from '../server/clock.ts';
import { useNow } from './use-now.ts';

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * 24 * 3_600],
  ['month', 30 * 24 * 3_600],
  ['day', 24 * 3_600],
  ['hour', 3_600],
  ['minute', 60],
];

const relative = lazy(
  () => new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' }),
);
const local = lazy(
  () => new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' }),
);
const clock = lazy(() => new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' }));
const preciseClock = lazy(
  () =>
    new Intl.DateTimeFormat('en-GB', {
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      fractionalSecondDigits: 3,
    }),
);
const day = lazy(() => new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' }));

/** A time as its distance from now, such as `2h ago`; `now` within the last minute, or ahead by a clock's difference. */
function relativeTime(moment: Date, now: number): string {
  const seconds = (moment.getTime() - now) / 1_000;
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return relative().format(Math.trunc(seconds / length), unit);
  }
  return 'now';
}

/** A time as its distance from now. On hover it shows the exact time in UTC. */
export function RelativeTime({ at }: { at: string }) {
  const now = useNow(serverNow, 30_000);
  return (
    <time dateTime={at} title={exactTime(at)}>
      {relativeTime(new Date(at), now)}
    </time>
  );
}

/** A time in the time zone of the browser, such as `22 Nov 2026, 14:02:11`. On hover it shows the exact time in UTC. */
export function LocalTime({ at }: { at: string }) {
  return (
    <time className="number" dateTime={at} title={exactTime(at)}>
      {local().format(new Date(at))}
    </time>
  );
}

/** A time for a narrow column: the time of today, else the day before it. On hover it shows the exact time in UTC. */
export function ShortTime({ at }: { at: string }) {
  const moment = new Date(at);
  const isToday = moment.toDateString() === new Date(serverNow()).toDateString();
  return (
    <time className="number" dateTime={at} title={exactTime(at)}>
      {isToday
        ? clock().format(moment)
        : `${day().format(moment)}, ${clock().format(moment).slice(0, 5)}`}
    </time>
  );
}

/** A time of day to the millisecond, such as `14:02:11.345`. On hover it shows the exact time in UTC, with the day. */
export function ClockTime({ at }: { at: string }) {
  const moment = new Date(at);
  return (
    <time dateTime={at} title={`${moment.toISOString().replace('T', ' ').replace('Z', '')} UTC`}>
      {preciseClock().format(moment)}
    </time>
  );
}

/** A time in UTC, to the second. */
function exactTime(at: string): string {
  return `${new Date(at).toISOString().replace('T', ' ').slice(0, 19)} UTC`;
}

/** A duration as people read it: `212 ms`, `1.8 s` or `2 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}
