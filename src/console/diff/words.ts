import { diffWordsWithSpace } from 'diff';

/** A part of a line, and whether the other line lacks it. */
export type WordPart = { text: string; isChanged: boolean };

/** A line and the one in its place. */
type LinePair = { before: WordPart[]; after: WordPart[] };

/** Characters of the longest line whose words are compared. */
const LONGEST = 2_000;
const LIMIT_MS = 20;
/** Share of the longer line that both must have. Below it, marked words would only be noise. */
const LEAST_SHARED = 0.3;

/** Marks the words that differ in a line and the one in its place. Of lines with little in common it marks none. */
export function compareWords(before: string, after: string): LinePair {
  const whole = { before: [unchanged(before)], after: [unchanged(after)] };
  const longest = Math.max(before.length, after.length);
  if (longest > LONGEST) return whole;
  const pair = markWords(before, after, LIMIT_MS);
  if (!pair) return whole;
  const shared = pair.before.filter(({ isChanged }) => !isChanged);
  const length = shared.reduce((sum, { text }) => sum + text.trim().length, 0);
  return length < LEAST_SHARED * longest ? whole : pair;
}

/** Marks the words that differ in two texts, unless the search takes longer than a time in milliseconds. */
export function markWords(before: string, after: string, limitMs: number): LinePair | undefined {
  const parts = diffWordsWithSpace(before, after, { timeout: limitMs });
  return (
    parts && {
      before: parts
        .filter(({ added }) => !added)
        .map(({ value, removed }) => ({ text: value, isChanged: removed })),
      after: parts
        .filter(({ removed }) => !removed)
        .map(({ value, added }) => ({ text: value, isChanged: added })),
    }
  );
}

function unchanged(text: string): WordPart {
  return { text, isChanged: false };
}
