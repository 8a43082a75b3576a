/** How many of a bot's runs the first window of a search covers. */
export const FIRST_WINDOW_RUNS = 2_000;
/**
 * The work for a page: a page that is not full then ends where the search has arrived. A unit of work takes PostgreSQL a
 * microsecond on an idle core. Time would not do as a bound: under load pages would be shorter, and clients would ask for
 * more of them.
 */
export const PAGE_WORK = 100_000;
/** The longest time of a window after the first one, in milliseconds, for times when the bot had far more runs. */
export const WINDOW_MS = 500;

/** The next window covers at most this many times as much time as the last one. */
const MAX_GROWTH = 64;
/** A window that would cover a smaller part of the last one is left to the next page. */
const LEAST_GROWTH = 0.2;

/** To pass over a run in the index. */
const PASS = 0.05;
/** To read a run that the index finds. */
const READ = 2.5;
/** To look for a phrase in a run. */
const LOOK = 30;
/** To read the words of one byte. */
const CHECK = 0.25;

/** Estimates the work to read the words of texts. */
export function workOfCheck(bytes: number): number {
  return CHECK * bytes;
}

/** Estimates the work of a statement that finds runs by the index. */
export function workOfWindow(runs: number, indexed: number, hasPhrases: boolean): number {
  return PASS * runs + (hasPhrases ? READ + LOOK : READ) * indexed;
}

/** What a search has done in its last window. */
export type LastWindow = {
  work: number;
  /** The matching runs. */
  found: number;
};

/**
 * The growth of the next window of a search: as much as the page needs and its work allows, if runs match as in the last
 * window. With a rare word, three windows cover a million runs.
 *
 * @param missing runs of the page that are not found yet.
 * @param left the work left for the page.
 * @returns `undefined` if the page has no work left for another window.
 */
export function growthOf(last: LastWindow, missing: number, left: number): number | undefined {
  const affordable = left / last.work;
  if (affordable < LEAST_GROWTH) return undefined;
  const needed = last.found === 0 ? MAX_GROWTH : (2 * missing) / last.found;
  return Math.min(MAX_GROWTH, affordable, Math.max(1, needed));
}
