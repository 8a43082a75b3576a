import { useEffect, useState } from 'react';

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * 24 * 3_600],
  ['month', 30 * 24 * 3_600],
  ['day', 24 * 3_600],
  ['hour', 3_600],
  ['minute', 60],
];

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' });

/** A time as its distance from now, such as `2h ago`; `now` within the last minute, or ahead by a clock's difference. */
export function relativeTime(moment: Date, now: number): string {
  const seconds = (moment.getTime() - now) / 1_000;
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  }
  return 'now';
}

/** A time as its distance from now. On hover it shows the exact time in UTC. */
export function RelativeTime({ at }: { at: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  const moment = new Date(at);
  const exact = `${moment.toISOString().replace('T', ' ').slice(0, 19)} UTC`;
  return (
    <time dateTime={at} title={exact}>
      {relativeTime(moment, now)}
    </time>
  );
}
