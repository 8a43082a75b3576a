import { distance } from 'fastest-levenshtein';
import { BOUNDS } from './bounds.ts';
import { oneOf } from './token.ts';

/** Names that a word is compared with. */
const MAX_CANDIDATES = 128;

/**
 * Suggests the nearest name if at most about a third of the letters differ. It compares the first 128 names, and skips
 * words and names that are longer than the language allows.
 */
export function suggest(word: string, names: Iterable<string>): string | undefined {
  if (word.length > BOUNDS.nameLength) return undefined;
  const limit = Math.max(1, Math.floor(word.length / 3));
  let nearest: string | undefined;
  let fewest = limit + 1;
  let compared = 0;
  for (const name of names) {
    if (compared === MAX_CANDIDATES) break;
    compared += 1;
    if (name.length > BOUNDS.nameLength || Math.abs(name.length - word.length) > limit) continue;
    const mistakes = countMistakes(word.toLowerCase(), name.toLowerCase());
    if (mistakes >= fewest) continue;
    nearest = name;
    fewest = mistakes;
  }
  return nearest;
}

/** The edit distance. A swap of two neighbouring letters counts as one edit. */
function countMistakes(word: string, name: string): number {
  return hasSwap(word, name) ? 1 : distance(word, name);
}

function hasSwap(word: string, name: string): boolean {
  if (word.length !== name.length) return false;
  let at = 0;
  while (at < word.length && word[at] === name[at]) at += 1;
  const isSwapped = word[at] === name[at + 1] && word[at + 1] === name[at];
  return at + 1 < word.length && isSwapped && word.slice(at + 2) === name.slice(at + 2);
}

/** Names that a message lists. */
const MAX_LISTED = 10;

/** The end of a message about an unknown name: a suggestion, or all names if there are at most 10. */
export function hint(word: string, names: Iterable<string>): string {
  const name = suggest(word, names);
  if (name !== undefined) return `, did you mean "${name}"?`;
  const listed = [...Iterator.from(names).take(MAX_LISTED + 1)];
  return listed.length > 0 && listed.length <= MAX_LISTED ? `, expected ${oneOf(listed)}` : '';
}
