/** Characters of a key. Source: the API document, "Idempotency". */
export const MAX_KEY_LENGTH = 255;

/** The problem of a typed key. */
export function keyFault(typed: string): string | undefined {
  if (!/^[\x21-\x7e]*$/.test(typed)) return 'A key has only visible ASCII characters.';
  if (typed.length <= MAX_KEY_LENGTH) return undefined;
  return `A key has at most ${MAX_KEY_LENGTH} characters.`;
}
