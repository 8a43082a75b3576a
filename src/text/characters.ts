/**
 * False for text with U+0000, which PostgreSQL cannot store, or lone surrogates, which UTF-8 cannot encode.
 * Requests with such text are rejected; in a model's output those characters are replaced.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}

/** Replaces every character that cannot be stored with U+FFFD. */
export function toStorable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\uFFFD');
}

/** Characters that change what a terminal does or shows, and that a reader does not see. */
const HIDDEN = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\t\n]]/gv;

/** Replaces the characters of a text that would change what a terminal does or shows by U+FFFD. */
export function toPrintable(text: string): string {
  return text.replaceAll(HIDDEN, '\uFFFD');
}
