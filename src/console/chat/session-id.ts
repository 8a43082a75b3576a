/** The rule for session ids, as a sentence. */
export const SESSION_ID_RULE = 'A session id has 1 to 256 visible characters, without spaces.';

/** Whether a text may be a session id. A character outside the basic plane, such as an emoji, counts once. */
export function isSessionId(text: string): boolean {
  return /^[^\p{C}\p{Z}]{1,256}$/u.test(text);
}
