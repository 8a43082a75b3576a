/** `Date` headers have whole seconds and travel for a while, so that a smaller difference means nothing. */
const PRECISION_MS = 5_000;

let ahead = 0;

/** Notes the time of an answer by its `Date` header, because the clock of this computer may be wrong. */
export function noteServerTime(date: string | null): void {
  const difference = Date.parse(date ?? '') - Date.now();
  if (Number.isNaN(difference)) return;
  ahead = Math.abs(difference) < PRECISION_MS ? 0 : difference;
}

/** The server's time, in milliseconds since the epoch. */
export function serverNow(): number {
  return Date.now() + ahead;
}

/** The end of this minute, so that a view opened twice within it sends the same query. */
export function endOfMinute(): number {
  return Math.ceil(serverNow() / 60_000) * 60_000;
}
