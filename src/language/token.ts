import { looksLikeSecret } from './secrets.ts';

/** The punctuation of the language. */
export type Punctuator = '{' | '}' | ',' | '|' | '.' | '?' | '[' | ']';

/** `other` is an invalid run of characters, such as `first-name` or `60sec`. */
export type TokenKind =
  | Punctuator
  | 'name'
  | 'integer'
  | 'number'
  | 'duration'
  | 'string'
  | 'triple'
  | 'other'
  | 'end';

export type Token = {
  readonly kind: TokenKind;
  /** As written in the source, with quotes. */
  readonly text: string;
  /** Offsets in the source. */
  readonly start: number;
  readonly end: number;
  /** Its index among the tokens. */
  readonly index: number;
  /** Whether it is the first token of its line. */
  readonly startsLine: boolean;
  /** A string whose closing quotes are missing. */
  readonly broken: boolean;
};

/** A comment, from `#` to the end of its line. */
export type Comment = {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Whether only white space precedes it on its line. */
  readonly startsLine: boolean;
};

/** Names a token in a message. It does not quote a string, which may be long or a secret. */
export function describe({ kind, text }: Token): string {
  switch (kind) {
    case 'string':
      return 'a string';
    case 'triple':
      return 'a """ text';
    case 'end':
      return 'the end of the file';
    default:
      return quote(text);
  }
}

/** Quotes a shortened text. It hides text that looks like a secret. */
export function quote(text: string): string {
  return looksLikeSecret(text) ? 'what looks like a secret' : `"${shorten(text)}"`;
}

/** Shortens a text to 32 characters. */
export function shorten(text: string): string {
  const characters = Array.from(text.slice(0, 66));
  return characters.length > 32 ? `${characters.slice(0, 32).join('')}…` : text;
}

/** `"a", "b" or "c"`. */
export function oneOf(names: readonly string[]): string {
  const quoted = names.map(quote);
  return [quoted.slice(0, -1).join(', '), ...quoted.slice(-1)].filter(Boolean).join(' or ');
}
