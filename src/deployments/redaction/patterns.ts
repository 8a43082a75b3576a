import type { EnvironmentVariables } from '../environment.ts';
import { createMatcher, type Matcher } from './matcher.ts';

/** Shorter values are not looked for: they stand in too much text that has nothing to do with them. */
const MIN_LENGTH = 8;

/** What is looked for in a text. */
export type Patterns = {
  matcher: Matcher;
  /** By pattern: the variable whose value it is. */
  names: readonly string[];
  /** By pattern, in UTF-16 code units. */
  lengths: readonly number[];
  /** By byte: whether the UTF-8 of a pattern begins with it. */
  begins: Uint8Array;
  /** What the first 0, 2, 4 and 6 bits of these bytes may be. */
  beginnings: readonly ReadonlySet<number>[];
};

/**
 * The values of at least 8 characters. A value that JSON escapes is also looked for with its escapes: a whole
 * document may be written in base64 or hexadecimal.
 *
 * @returns nothing where there is nothing to look for.
 */
export function createPatterns(variables: EnvironmentVariables): Patterns | undefined {
  const entries = Object.entries(variables).filter(([, value]) => value.length >= MIN_LENGTH);
  const forms = entries.flatMap(([name, value]) => formsOf(value).map((form) => ({ name, form })));
  if (forms.length === 0) return undefined;
  const begins = new Uint8Array(256);
  for (const { form } of forms) begins[Buffer.from(form.slice(0, 2))[0] ?? 0] = 1;
  return {
    matcher: createMatcher(forms.map(({ form }) => form)),
    names: forms.map(({ name }) => name),
    lengths: forms.map(({ form }) => form.length),
    begins,
    beginnings: [0, 2, 4, 6].map((bits) => beginningsOf(begins, bits)),
  };
}

/** A value, and how JSON writes it, but for values that are hardly text: they would take too much memory. */
function formsOf(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  return json === value || json.length > 2 * value.length ? [value] : [value, json];
}

function beginningsOf(begins: Uint8Array, bits: number): Set<number> {
  const bytes = [...begins.keys()].filter((byte) => begins[byte] === 1);
  return new Set(bits === 0 ? [] : bytes.map((byte) => byte >> (8 - bits)));
}
