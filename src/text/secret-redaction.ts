/** A text with any of its characters percent-encoded, also repeatedly, as a part of a regular expression. */
const spelled = (text: string) =>
  Array.from(text, (one) => `(?:${one}|%(?:25)*${one.charCodeAt(0).toString(16)})`).join('');

const KINDS = ['sk', 'cs', 'si'].map(spelled).join('|');
/** API keys, tokens of console sessions and sign-in codes by their prefix, and JSON Web Tokens by their first letters. */
const SECRET = new RegExp(
  `${spelled('parley_')}(?:${KINDS})${spelled('_')}[\\w%-]*|${spelled('eyJ')}[\\w.%-]{20,}`,
  'gi',
);

/**
 * Replaces API keys, tokens of sessions and visits, and sign-in codes in a text by `[redacted]`, also if they are
 * percent-encoded or incomplete. Takes linear time.
 */
export function redactSecrets(text: string): string {
  return text.replace(SECRET, '[redacted]');
}
