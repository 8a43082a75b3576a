import { createMatcher, type Matcher } from './matcher.ts';

/** Shorter values are ignored: they appear too often in unrelated text. */
const MIN_LENGTH = 8;

/** The patterns to search for. */
export type Patterns = {
  matcher: Matcher;
  /** By pattern: the name of its variable. */
  names: readonly string[];
  /** By pattern, in UTF-16 code units. */
  lengths: readonly number[];
  /** By byte: whether the UTF-8 of a pattern starts with it. */
  begins: Uint8Array;
  /** By 12 bits, which two digits of base64 encode: whether one of the bytes within them begins a pattern. */
  beginPlaces: Uint8Array;
  /** The possible values of the first 0, 2, 4 and 6 bits of these bytes. */
  beginnings: readonly ReadonlySet<number>[];
};

/**
 * Creates patterns for values of at least 8 characters. A value that JSON escapes is also a pattern in its escaped form,
 * because a whole JSON document may be encoded in base64 or hexadecimal.
 *
 * @returns undefined if there are no patterns.
 */
export function createPatterns(variables: Readonly<Record<string, string>>): Patterns | undefined {
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
    beginPlaces: Uint8Array.from({ length: 4_096 }, (_, window) =>
      [4, 2, 0].some((shift) => begins[(window >> shift) & 0xff] === 1) ? 1 : 0,
    ),
    beginnings: [0, 2, 4, 6].map((bits) => beginningsOf(begins, bits)),
  };
}

/** A value and its JSON form. The JSON form is skipped if it is more than twice as long, to bound memory. */
function formsOf(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  return json === value || json.length > 2 * value.length ? [value] : [value, json];
}

function beginningsOf(begins: Uint8Array, bits: number): Set<number> {
  const bytes = [...begins.keys()].filter((byte) => begins[byte] === 1);
  return new Set(bits === 0 ? [] : bytes.map((byte) => byte >> (8 - bits)));
}
