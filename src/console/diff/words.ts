import { diffWordsWithSpace } from 'diff';

/** A part of a line, and whether the other line lacks it. */
export type WordPart = { text: string; isChanged: boolean };

/** A line and the one in its place. */
export type LinePair = { before: WordPart[]; after: WordPart[] };

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
  const parts = diffWordsWithSpace(before, after, { timeout: LIMIT_MS });
  if (!parts) return whole;
  const shared = parts.filter(({ added, removed }) => !added && !removed);
  const length = shared.reduce((sum, { value }) => sum + value.trim().length, 0);
  if (length < LEAST_SHARED * longest) return whole;
  return {
    before: parts
      .filter(({ added }) => !added)
      .map(({ value, removed }) => ({ text: value, isChanged: removed })),
    after: parts
      .filter(({ removed }) => !removed)
      .map(({ value, added }) => ({ text: value, isChanged: added })),
  };
}

function unchanged(text: string): WordPart {
  return { text, isChanged: false };
}
