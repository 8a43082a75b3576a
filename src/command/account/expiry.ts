import { UsageError } from '../errors.ts';

const UNITS: Record<string, number> = { m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** @returns the time at which a key expires, from a duration such as `30d` or a date such as `2027-01-31`. */
export function expiryOf(text: string, now: number = Date.now()): string {
  const [, amount, unit = ''] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  const seconds = UNITS[unit];
  if (amount !== undefined && seconds !== undefined && Number(amount) > 0)
    return new Date(now + Number(amount) * seconds * 1_000).toISOString();
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text)))
    return new Date(text).toISOString();
  throw new UsageError(
    `--expires cannot be "${text}". Write a duration, such as 12h, 30d or 8w, or a date, such as 2027-01-31.`,
  );
}
