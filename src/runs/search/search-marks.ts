/** The spans of time that have marks: 2 to this power, in seconds. */
const SPANS = [12, 18];
/** The most marks in one search. */
const MAX_MARKS = 64;

/**
 * The marks of the runs of a bot between two times in milliseconds, in any order, as the text of a `tsquery`. They may
 * cover more time.
 */
export function marksOf(botId: string, one: number, other: number): string {
  const [from, to] = [Math.min(one, other), Math.max(one, other)];
  for (const span of SPANS) {
    const spanAt = (ms: number) => Math.floor(ms / 1_000 / 2 ** span);
    const [first, last] = [spanAt(from), spanAt(to)];
    if (last - first >= MAX_MARKS) continue;
    const spans = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    return spans.map((number) => mark(`${botId}/${span}/${number}`)).join(' | ');
  }
  return mark(botId);
}

function mark(name: string): string {
  return `'\u0001${name.replaceAll(/['\\]/g, '$&$&')}'`;
}
