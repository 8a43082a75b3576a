/** A time in the user's time zone, to the minute; empty without a time, and a text that is no time as it is. */
export function localTime(time: string | null | undefined): string {
  if (!time) return '';
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  const two = (number: number) => `${number}`.padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** A duration, such as `340 ms` or `12.3 s`; empty if it is unknown. */
export function duration(milliseconds: number | null): string {
  if (milliseconds === null) return '';
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}
