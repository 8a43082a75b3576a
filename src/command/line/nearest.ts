import { suggest } from '../../language/suggest.ts';

/** The name that a word most probably means: one that begins with it, or the nearest spelling. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  const beginning = names.filter((name) => name.toLowerCase().startsWith(lower));
  if (lower.length >= 2 && beginning.length === 1) return beginning[0];
  return suggest(word, names);
}

/** The end of a message about an unknown name: a question with the nearest name, or nothing. */
export function didYouMean(word: string, names: readonly string[]): string {
  const name = nearest(word, names);
  return name === undefined ? '' : ` Did you mean "${name}"?`;
}
