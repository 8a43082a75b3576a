/** The largest value of the columns that have levels: the sum of two of PostgreSQL's `integer`. */
const MAX_LEVEL = 2 ** 32;

/** All levels up to `MAX_LEVEL`. */
const LEVELS: number[] = Array.from({ length: 9 }, (_, index) => index + 1);
for (let power = 10; power <= MAX_LEVEL; power *= 10) {
  for (let half = 2; half < 20; half += 1) LEVELS.push((half * power) / 2);
}

/** The start of the range that holds a whole number, as the function `run_level` of the database computes it. */
export function levelOf(value: number): number {
  if (value < 10) return value;
  const half = 5 * 10 ** (String(value).length - 2);
  return value - (value % half);
}

/**
 * The levels of all numbers from a whole number on. An index with a number's level in front of the time lists the numbers
 * of each level in the order of time, so that the first rows of all levels give the first rows of a minimum. Numbers of
 * two digits that end in 0 or 5, with any zeros, are levels themselves.
 *
 * @param least at least 1.
 */
export function levelsFrom(least: number): number[] {
  const first = levelOf(least);
  return LEVELS.filter((level) => level >= first);
}
