import { createByteReader } from './bytes.ts';
import type { Found } from './layer.ts';
import type { Patterns } from './patterns.ts';

/** The digits of an encoding: hexadecimal or base64. */
export type Digits = {
  /** Bits per digit: 4 or 6. */
  bits: number;
  /** By ASCII code: the value of a digit, or -1. */
  values: Int8Array;
  /** Codes that may separate digits. */
  ignored: readonly number[];
};

/** Searches the bytes that a run of digits encodes, for every possible alignment of bytes to digits. */
export type EncodedBytes = {
  push(code: number, start: number, end: number): void;
  /** The start of the earliest incomplete match, if any. */
  liveStart(): number | undefined;
};

/** RFC 4648, section 8, in upper and lower case. */
export const HEXADECIMAL: Digits = {
  bits: 4,
  values: valuesOf('0123456789abcdef', '0123456789ABCDEF'),
  ignored: [],
};

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** RFC 4648, sections 4 and 5, with line breaks allowed. */
export const BASE64: Digits = {
  bits: 6,
  values: valuesOf(`${LETTERS}+/`, `${LETTERS}-_`),
  ignored: [0x0a, 0x0d],
};

function valuesOf(...alphabets: string[]): Int8Array {
  const values = new Int8Array(128).fill(-1);
  for (const alphabet of alphabets)
    for (const [value, digit] of [...alphabet].entries()) values[digit.charCodeAt(0)] = value;
  return values;
}

export function createEncodedBytes(
  { bits, values, ignored }: Digits,
  patterns: Patterns,
  found: Found,
): EncodedBytes {
  const { begins, beginnings } = patterns;
  const beginPlaces = bits === 4 ? begins : patterns.beginPlaces;
  /** The number of digits after which the alignment repeats. Each alignment has its own reader. */
  const period = bits === 4 ? 2 : 4;
  const readers = Array.from({ length: period }, () => createByteReader(patterns, found));
  /** By reader: whether it has an incomplete match; and the number of these readers. */
  const busy = new Uint8Array(period);
  let busyCount = 0;
  let count = 0;
  let window = 0;
  let previousStart = 0;

  const reset = () => {
    count = 0;
    if (busyCount === 0) return;
    for (let index = 0; index < period; index += 1) {
      if (busy[index] === 1) readers[index]?.reset();
      busy[index] = 0;
    }
    busyCount = 0;
  };

  return {
    push(code, start, end) {
      const value = code < 128 ? (values[code] ?? -1) : -1;
      if (value === -1) {
        if (count > 0 && !ignored.includes(code)) reset();
        return;
      }
      window = ((window << bits) | value) & (bits === 4 ? 0xff : 0xf_ff);
      if (count > 0 && (busyCount > 0 || beginPlaces[window] !== 0))
        for (let place = 1; place < period; place += 1) {
          const byte = (window >> (bits - place * (8 - bits))) & 0xff;
          const index = (count - place) & (period - 1);
          if (begins[byte] === 0 && busy[index] === 0) continue;
          const isBusy = readers[index]?.push(byte, previousStart, end) ? 1 : 0;
          busyCount += isBusy - (busy[index] ?? 0);
          busy[index] = isBusy;
        }
      previousStart = start;
      count += 1;
    },

    liveStart() {
      if (count === 0) return undefined;
      let earliest: number | undefined;
      for (let place = 0; place < period; place += 1) {
        const open = bits - place * (8 - bits);
        const isLive = beginnings[open / 2]?.has(window & ((1 << open) - 1));
        const index = (count - 1 - place) & (period - 1);
        const start = readers[index]?.liveStart() ?? (isLive ? previousStart : undefined);
        if (start !== undefined && start < (earliest ?? Infinity)) earliest = start;
      }
      return earliest;
    },
  };
}
