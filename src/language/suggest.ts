import { distance } from 'fastest-levenshtein';
import { oneOf } from './token.ts';

/** The name that was probably meant: the nearest one, if hardly more than a letter in three differs. */
export function suggest(word: string, names: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3));
  const [nearest] = names
    .filter((name) => Math.abs(name.length - word.length) <= limit)
    .map((name) => ({ name, mistakes: countMistakes(word.toLowerCase(), name.toLowerCase()) }))
    .filter(({ mistakes }) => mistakes <= limit)
    .sort((a, b) => a.mistakes - b.mistakes);
  return nearest?.name;
}

/** Letters to change; two neighbours that changed places count as one. */
function countMistakes(word: string, name: string): number {
  const at = [...name].findIndex((letter, index) => letter !== word[index]);
  const swapped = `${name.slice(0, at)}${name.charAt(at + 1)}${name.charAt(at)}${name.slice(at + 2)}`;
  return at !== -1 && swapped === word ? 1 : distance(word, name);
}

/** What a message about an unknown name ends with: the name that was meant, or the few that there are. */
export function hint(word: string, names: readonly string[]): string {
  const name = suggest(word, names);
  if (name !== undefined) return `, did you mean "${name}"?`;
  return names.length > 0 && names.length <= 10 ? `, expected ${oneOf(names)}` : '';
}
