import { decodeHTMLStrict, replaceCodePoint } from 'entities/decode';

/** The kinds of escapes, as bits. The opener of an escape identifies its kind. */
export const PERCENT = 1;
/** `+` for a space: `application/x-www-form-urlencoded`. An escape of one unit. */
export const PLUS = 2;
export const BACKSLASH = 4;
export const ENTITY = 8;

/** By ASCII code: the kind of escape that the unit opens, or 0. */
const OPENS = new Uint8Array(128);
for (const [opener, kind] of [
  ['%', PERCENT],
  ['+', PLUS],
  ['\\', BACKSLASH],
  ['&', ENTITY],
] as const)
  OPENS[opener.charCodeAt(0)] = kind;

/** The kind of escape that a unit opens, or 0. */
export const kindOf = (code: number): number => (code < 128 ? (OPENS[code] ?? 0) : 0);

/** The units of the longest escape: `&`, 32 characters of a name, `;`. */
export const MAX_ESCAPE = 34;

/** `more`: the escape may be incomplete. `done`: the unit completes it. `none`: it is not an escape. */
type Reading = 'more' | 'done' | 'none';

/**
 * Reads one escape at a time, unit by unit:
 *
 * - `%2F` in either case (RFC 3986, section 2.1), which encodes a byte of UTF-8,
 * - `+` in form-encoded text,
 * - `\n`, `\/`, `\u00e9` (RFC 8259, section 7), and `\x41` and `\'`, as programs print strings,
 * - `&amp;`, `&#39;`, `&#x27;`: character references of the HTML standard, only with a final semicolon.
 */
export type EscapeReader = {
  /** Begins an escape with its opener, other than `+`. */
  begin(kind: number): void;
  /** Reads the next unit of the escape. */
  read(code: number): Reading;
  /** The decoded unit of a complete escape. Of `%`, a byte. */
  decoded(): number;
  /** A second decoded unit, or 0. */
  decodedRest(): number;
};

const [DIGIT_0, DIGIT_9, HASH, SEMICOLON] = [0x30, 0x39, 0x23, 0x3b];
const [LETTER_A, LETTER_F, LETTER_U, LETTER_X, LETTER_Z] = [0x61, 0x66, 0x75, 0x78, 0x7a];

/** By ASCII code: the character after a backslash, or 0. */
const BACKSLASHED = new Uint8Array(128);
for (const [letter, character] of Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }))
  BACKSLASHED[letter.charCodeAt(0)] = character.charCodeAt(0);
for (const character of '"\'\\/') BACKSLASHED[character.charCodeAt(0)] = character.charCodeAt(0);

/** The value of a hexadecimal digit, or -1. */
function hexValue(code: number): number {
  if (code >= DIGIT_0 && code <= DIGIT_9) return code - DIGIT_0;
  const lower = code | 0x20;
  return lower >= LETTER_A && lower <= LETTER_F ? lower - LETTER_A + 10 : -1;
}

const isDigit = (code: number) => code >= DIGIT_0 && code <= DIGIT_9;
const isLetter = (code: number) => (code | 0x20) >= LETTER_A && (code | 0x20) <= LETTER_Z;

export function createEscapeReader(): EscapeReader {
  let kind = 0;
  /** The units read, the opener included, and those that the escape has if its length is known. */
  let length = 0;
  let needed = 0;
  let value = 0;
  let rest = 0;
  /** The base of a numeric character reference, or 0 for a named one. */
  let base = 0;
  const name = new Uint8Array(MAX_ESCAPE);

  const readHex = (code: number): Reading => {
    const digit = hexValue(code);
    if (digit < 0) return 'none';
    value = (value << 4) | digit;
    return length === needed ? 'done' : 'more';
  };

  const readBackslash = (code: number) => {
    if (length > 2) return readHex(code);
    if (code === LETTER_U || code === LETTER_X) {
      needed = code === LETTER_U ? 6 : 4;
      return 'more';
    }
    value = code < 128 ? (BACKSLASHED[code] ?? 0) : 0;
    return value === 0 ? 'none' : 'done';
  };

  const setCharacter = (codePoint: number): Reading => {
    value = codePoint;
    if (codePoint <= 0xff_ff) return 'done';
    value = 0xd8_00 | ((codePoint - 0x1_00_00) >> 10);
    rest = 0xdc_00 | (codePoint & 0x3_ff);
    return 'done';
  };

  const readName = (code: number) => {
    name[length - 2] = code;
    if (code !== SEMICOLON)
      return length < MAX_ESCAPE && (isLetter(code) || isDigit(code)) ? 'more' : 'none';
    value = decodeName(name, length - 1);
    rest = value >>> 16;
    value &= 0xff_ff;
    return value === 0 ? 'none' : 'done';
  };

  const readEntity = (code: number) => {
    if (length === 2) {
      base = code === HASH ? 10 : 0;
      if (base === 10) return 'more';
      name[0] = code;
      return isLetter(code) ? 'more' : 'none';
    }
    if (base === 0) return readName(code);
    if (length === 3 && (code | 0x20) === LETTER_X) {
      base = 16;
      return 'more';
    }
    const digits = length - (base === 10 ? 2 : 3);
    if (code === SEMICOLON) return digits > 1 ? setCharacter(replaceCodePoint(value)) : 'none';
    const digit = base === 16 ? hexValue(code) : isDigit(code) ? code - DIGIT_0 : -1;
    if (digit < 0 || digits > (base === 10 ? 10 : 8)) return 'none';
    value = value * base + digit;
    return 'more';
  };

  return {
    begin(opened) {
      kind = opened;
      length = 1;
      needed = 3;
      value = 0;
      rest = 0;
    },
    read(code) {
      length += 1;
      if (kind === PERCENT) return readHex(code);
      return kind === BACKSLASH ? readBackslash(code) : readEntity(code);
    },
    decoded: () => value,
    decodedRest: () => rest,
  };
}

/** The last decoded names. The readers of all encodings mostly read the same names. */
const decodedNames = Array.from({ length: 64 }, () => ({
  units: new Uint8Array(MAX_ESCAPE),
  value: 0,
}));

/** @returns the one or two units that a name with its semicolon means, the second one in the upper 16 bits, or 0. */
function decodeName(units: Uint8Array, length: number): number {
  let hash = length;
  for (let at = 0; at < length; at += 1) hash = (Math.imul(hash, 31) + (units[at] ?? 0)) | 0;
  const known = decodedNames[(hash ^ (hash >>> 15)) & 63];
  if (!known) return 0;
  let same = 0;
  // A shorter name differs at its semicolon.
  while (same < length && known.units[same] === units[same]) same += 1;
  if (same < length) {
    const text = `&${String.fromCharCode(...units.subarray(0, length))}`;
    const decoded = decodeHTMLStrict(text);
    known.units.set(units.subarray(0, length));
    known.value =
      decoded === text
        ? 0
        : decoded.charCodeAt(0) | (decoded.length > 1 ? decoded.charCodeAt(1) << 16 : 0);
  }
  return known.value;
}
