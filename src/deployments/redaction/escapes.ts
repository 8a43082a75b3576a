import { decodeHTMLStrict } from 'entities';
import { utf8Length } from './utf8.ts';

/** A kind of escape sequence. */
export type Escape = {
  /** The code units that start an escape. */
  openers: readonly number[];
  /**
   * Reads a text that starts with an opener. Returns the decoded characters, `more` if the escape may be incomplete, or
   * `none` if it is not an escape.
   */
  read(text: string): { decoded: string } | 'more' | 'none';
};

const [PERCENT, PLUS, BACKSLASH, AMPERSAND] = [0x25, 0x2b, 0x5c, 0x26];

/** Whether a text ends with a hexadecimal digit. */
function endsWithHex(text: string): boolean {
  const code = text.charCodeAt(text.length - 1);
  return (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x66);
}

/** `%2F` in either case: RFC 3986, section 2.1. The bytes of one UTF-8 character are decoded together. */
export const percent: Escape = { openers: [PERCENT], read: readPercent };

/** `%2F`, and `+` for a space: `application/x-www-form-urlencoded`. */
export const form: Escape = {
  openers: [PERCENT, PLUS],
  read: (text) => (text === '+' ? { decoded: ' ' } : readPercent(text)),
};

/** `\n`, `\/`, `\u00e9`: RFC 8259, section 7; and `\x41` and `\'`, as programs print strings. */
export const backslash: Escape = { openers: [BACKSLASH], read: readBackslash };

/** `&amp;`, `&#39;`, `&#x27;`: character references of the HTML standard, only with a final semicolon. */
export const entity: Escape = { openers: [AMPERSAND], read: readEntity };

/** Any of these except `+`. The openers differ, so the first unit identifies the kind. */
export const anyEscape: Escape = {
  openers: [PERCENT, BACKSLASH, AMPERSAND],
  read(text) {
    if (text.charCodeAt(0) === PERCENT) return readPercent(text);
    return text.charCodeAt(0) === BACKSLASH ? readBackslash(text) : readEntity(text);
  },
};

function readPercent(text: string): ReturnType<Escape['read']> {
  const place = (text.length - 1) % 3;
  if (place === 0 ? !text.endsWith('%') : !endsWithHex(text)) return 'none';
  if (place !== 2) return 'more';
  const first = Number.parseInt(text.slice(1, 3), 16);
  if (first < 0x80) return { decoded: String.fromCharCode(first) };
  if (text.length < 3 * utf8Length(first)) return 'more';
  return { decoded: Buffer.from(text.replaceAll('%', ''), 'hex').toString() };
}

const BACKSLASHED = new Map(Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }));

function readBackslash(text: string): ReturnType<Escape['read']> {
  const kind = text.charAt(1);
  if (kind === '') return 'more';
  if (kind === 'u' || kind === 'x') {
    if (text.length > 2 && !endsWithHex(text)) return 'none';
    if (text.length < (kind === 'u' ? 6 : 4)) return 'more';
    return { decoded: String.fromCharCode(Number.parseInt(text.slice(2), 16)) };
  }
  if ('"\'\\/'.includes(kind)) return { decoded: kind };
  const decoded = BACKSLASHED.get(kind);
  return decoded === undefined ? 'none' : { decoded };
}

const REFERENCE = /^&(?:#(?:\d{0,10}|x[\da-f]{0,8})|[a-z][\da-z]{0,31})?$/i;

function readEntity(text: string): ReturnType<Escape['read']> {
  if (!text.endsWith(';')) return REFERENCE.test(text) ? 'more' : 'none';
  const decoded = decodeHTMLStrict(text);
  return decoded === text ? 'none' : { decoded };
}
