import { typeidUnboxed } from 'typeid-js';

/** The kinds of things that get an id of Parley's own, by the prefix of their ids. */
export type IdPrefix =
  | 'acc'
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
 * A new id: its kind's prefix, `_`, and 26 characters that grow with time.
 * Source: the TypeID specification, over UUID version 7 (RFC 9562).
 */
export function makeId(prefix: IdPrefix): string {
  return typeidUnboxed(prefix);
}
