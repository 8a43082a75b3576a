import { distance } from 'fastest-levenshtein';
import { oneOf } from './token.ts';

/** The name that was probably meant: the nearest one, if at most two letters in five differ. */
export function suggest(word: string, names: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length * 0.4));
  const [nearest] = names
    .filter((name) => Math.abs(name.length - word.length) <= limit)
    .map((name) => ({ name, distance: distance(word.toLowerCase(), name.toLowerCase()) }))
    .filter((candidate) => candidate.distance <= limit)
    .sort((a, b) => a.distance - b.distance);
  return nearest?.name;
}

/** What a message about an unknown name ends with: the name that was meant, or the few that there are. */
export function hint(word: string, names: readonly string[]): string {
  const name = suggest(word, names);
  if (name !== undefined) return `, did you mean "${name}"?`;
  return names.length > 0 && names.length <= 10 ? `, expected ${oneOf(names)}` : '';
}
