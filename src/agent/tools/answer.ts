const MAX_RESULT_BYTES = 64 * 1024;
const MAX_ERROR_BYTES = 2 * 1024;
const CUT_NOTE = '\n[The answer was longer and is cut here.]';

/**
 * What a model gets to read of an answer without secrets: 64 KiB at most, with a note where there was more.
 *
 * @param truncated whether it is already the beginning of a longer one.
 */
export function limitAnswer(text: string, truncated = false): string {
  const isWhole = !truncated && Buffer.byteLength(text) <= MAX_RESULT_BYTES;
  return isWhole ? text : cut(text, MAX_RESULT_BYTES - CUT_NOTE.length) + CUT_NOTE;
}

/** What a model gets to read of an answer that is an error: its first 2 KiB. */
export function limitError(text: string): string {
  return cut(text, MAX_ERROR_BYTES);
}

/** As many characters from the beginning as fit into so many bytes of UTF-8. */
function cut(text: string, bytes: number): string {
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(bytes)).read);
}
