import { markWords, type WordPart } from '../../../diff/words.ts';

/** Characters of both texts together that are compared by words. */
const LONGEST = 20_000;
const LIMIT_MS = 100;

/** Two replies with their different words marked. */
type MarkedTexts = {
  left: WordPart[];
  right: WordPart[];
  /** How much differs, as text. */
  words: string;
};

/** Marks the words of two replies that differ. Long replies are only compared as a whole. */
export function markTexts(left: string, right: string): MarkedTexts {
  const whole = (text: string) => [{ text, isChanged: false }];
  if (left === right) return { left: whole(left), right: whole(right), words: 'same reply' };
  const isShort = left.length + right.length <= LONGEST;
  const pair = isShort ? markWords(left, right, LIMIT_MS) : undefined;
  if (!pair) return { left: whole(left), right: whole(right), words: 'other reply' };
  const sides = { left: pair.before, right: pair.after };
  const changed = Math.max(changedWords(sides.left), changedWords(sides.right));
  if (changed === 0) return { ...sides, words: 'other white space' };
  const most = Math.max(wordCount(left), wordCount(right));
  const [count, all] = [changed.toLocaleString('en'), most.toLocaleString('en')];
  return { ...sides, words: `${count} of ${all} words` };
}

const wordCount = (text: string) => text.split(/\s+/).filter(Boolean).length;

const changedWords = (parts: WordPart[]) =>
  parts.reduce((sum, { text, isChanged }) => sum + (isChanged ? wordCount(text) : 0), 0);
