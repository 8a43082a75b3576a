import { typeidUnboxed } from 'typeid-js';

/** The prefixes of generated ids, one for each kind of record. */
export type IdPrefix =
  | 'acc'
  | 'aud'
  | 'key'
  | 'dep'
  | 'ses'
  | 'msg'
  | 'run'
  | 'req'
  | 'bot'
  | 'own'
  | 'trn'
  | 'clm'
  | 'tcl'
  | 'eva'
  | 'eca';

/**
 * Generates an id: the prefix, `_`, and 26 characters that sort by creation time.
 * Source: the TypeID specification, based on UUID version 7 (RFC 9562).
 */
export function makeId(prefix: IdPrefix): string {
  return typeidUnboxed(prefix);
}

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';

/** The first id of a millisecond: a UUID begins with the time in 48 bits, and 5 bits make a character. */
export function firstIdAt(prefix: IdPrefix, ms: number): string {
  let bits = BigInt(Math.max(0, Math.floor(ms))) << 80n;
  let suffix = '';
  for (let place = 0; place < 26; place += 1) {
    suffix = `${DIGITS[Number(bits & 31n)]}${suffix}`;
    bits >>= 5n;
  }
  return `${prefix}_${suffix}`;
}
