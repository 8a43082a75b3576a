const MAX_RESULT_BYTES = 64 * 1024;
const MAX_ERROR_BYTES = 2 * 1024;
const CUT_NOTE = '\n[The answer was longer and is cut here.]';

/**
 * Truncates a redacted tool result to 64 KiB and appends a note if it was longer.
 *
 * @param truncated whether the text is already truncated.
 */
export function limitAnswer(text: string, truncated = false): string {
  const isWhole = !truncated && Buffer.byteLength(text) <= MAX_RESULT_BYTES;
  return isWhole ? text : cut(text, MAX_RESULT_BYTES - CUT_NOTE.length) + CUT_NOTE;
}

/** Truncates an error message for the model to 2 KiB. */
export function limitError(text: string): string {
  return cut(text, MAX_ERROR_BYTES);
}

/** Truncates a text to a number of UTF-8 bytes, without splitting a character. */
function cut(text: string, bytes: number): string {
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(bytes)).read);
}
