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
  | 'clm';

/**
 * Generates an id: the prefix, `_`, and 26 characters that sort by creation time.
 * Source: the TypeID specification, based on UUID version 7 (RFC 9562).
 */
export function makeId(prefix: IdPrefix): string {
  return typeidUnboxed(prefix);
}
