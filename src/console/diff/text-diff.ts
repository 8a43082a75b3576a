import { diffArrays } from 'diff';

/** Lines that both texts have, or lines of one text in place of lines of the other. */
export type DiffBlock = {
  isSame: boolean;
  /** Number of the first line in each text, from 1. */
  firstBefore: number;
  firstAfter: number;
  /** Lines of the text before. The same as `after` if `isSame`. */
  before: string[];
  after: string[];
};

/** The difference of two texts, line by line. */
export type TextDiff = {
  blocks: DiffBlock[];
  /** The number of lines that only the text after has, and only the text before has. */
  added: number;
  removed: number;
  /** Whether the texts differ in nothing but their line endings. */
  isOnlyEndings: boolean;
};

/** Milliseconds for the search of the smallest difference. Without one, all lines between the first and the last change differ. */
const LIMIT_MS = 250;

/** Characters of the longest line that stays whole. */
const LONGEST_LINE = 2_000;

/** A sentence of at most as many characters, or as many characters of a longer one. */
const SENTENCES = /.{1,2000}?(?:[.!?…。！？]\s+|$)|.{1,2000}/gsu;

/**
 * Compares two texts. A line of more than 2,000 characters is broken at the ends of its sentences and counts as several:
 * one changed word in it must not replace megabytes, and no row of a table holds as much. An absent text has no lines.
 */
export function diffTexts(before: string | undefined, after: string): TextDiff {
  const [old, new_] = [linesOf(before ?? ''), linesOf(after)];
  const changes = diffArrays(old, new_, { timeout: LIMIT_MS }) ?? withoutEnds(old, new_);
  const blocks = blocksOf(changes);
  const changed = blocks.filter(({ isSame }) => !isSame);
  return {
    blocks,
    added: changed.reduce((sum, block) => sum + block.after.length, 0),
    removed: changed.reduce((sum, block) => sum + block.before.length, 0),
    isOnlyEndings: changed.length === 0 && before !== undefined && before !== after,
  };
}

/** The lines of a text, long ones broken. The end of the last line begins no further one. */
function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/);
  return (lines.at(-1) === '' ? lines.slice(0, -1) : lines).flatMap((line) =>
    line.length > LONGEST_LINE ? (line.match(SENTENCES) ?? []) : [line],
  );
}

type Change = { value: string[]; added: boolean; removed: boolean };

/** A difference in one place: all lines but the equal ones at both ends. */
function withoutEnds(before: string[], after: string[]): Change[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const same = { added: false, removed: false };
  return [
    { ...same, value: before.slice(0, start) },
    { ...same, removed: true, value: before.slice(start, before.length - end) },
    { ...same, added: true, value: after.slice(start, after.length - end) },
    { ...same, value: before.slice(before.length - end) },
  ].filter(({ value }) => value.length > 0);
}

/** Joins the removed and the added text of the same place. */
function blocksOf(changes: Change[]): DiffBlock[] {
  const blocks: DiffBlock[] = [];
  let [firstBefore, firstAfter] = [1, 1];
  for (const { value, added, removed } of changes) {
    const isSame = !added && !removed;
    let block = blocks.at(-1);
    if (!block || block.isSame || isSame) {
      block = { isSame, firstBefore, firstAfter, before: [], after: [] };
      blocks.push(block);
    }
    if (!added) block.before = [...block.before, ...value];
    if (!removed) block.after = [...block.after, ...value];
    if (!added) firstBefore += value.length;
    if (!removed) firstAfter += value.length;
  }
  return blocks;
}
