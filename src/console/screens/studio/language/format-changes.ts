/** A part of a text to replace. */
export type Change = { from: number; to: number; insert: string };

const SPACE = /\s*/y;

function spaceAt(text: string, offset: number): number {
  SPACE.lastIndex = offset;
  SPACE.exec(text);
  return SPACE.lastIndex;
}

/**
 * The changes that turn a text into its formatted form. Only white space differs, so each change is one run of it, and
 * the cursor and the folds of the editor keep their places.
 */
export function whiteSpaceChanges(before: string, after: string): Change[] {
  const changes: Change[] = [];
  let at = 0;
  let other = 0;
  while (at < before.length || other < after.length) {
    const end = spaceAt(before, at);
    const otherEnd = spaceAt(after, other);
    const insert = after.slice(other, otherEnd);
    if (before.slice(at, end) !== insert) changes.push({ from: at, to: end, insert });
    // A difference that is no white space: replaces the rest.
    if (before[end] !== after[otherEnd])
      return [...changes, { from: end, to: before.length, insert: after.slice(otherEnd) }];
    at = end + 1;
    other = otherEnd + 1;
  }
  return changes;
}
