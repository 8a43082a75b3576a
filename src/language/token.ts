import { looksLikeSecret } from './secrets.ts';

/** The signs of the language. */
export type Punctuator = '{' | '}' | ',' | '|' | '.' | '?' | '[' | ']';

/** `other` is a run of characters that is no token of the language, such as `first-name` or `60sec`. */
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
  /** As it stands in the source, with its quotes. */
  readonly text: string;
  /** Offsets in the source. */
  readonly start: number;
  readonly end: number;
  /** Its place among the tokens. */
  readonly index: number;
  /** Whether it is the first token of its line. */
  readonly startsLine: boolean;
  /** A string whose closing quotes are missing. */
  readonly broken: boolean;
};

/** From `#` to the line's end. */
export type Comment = {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Whether nothing but white space stands before it on its line. */
  readonly startsLine: boolean;
};

/** How messages name a token. A string's text is not shown: it may be long, or a secret. */
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

/** In quotes, cut where it is too long for one line. What looks like a secret is not shown. */
export function quote(text: string): string {
  return looksLikeSecret(text) ? 'what looks like a secret' : `"${shorten(text)}"`;
}

/** A text, cut where it is too long for one line. */
export function shorten(text: string): string {
  const characters = Array.from(text.slice(0, 66));
  return characters.length > 32 ? `${characters.slice(0, 32).join('')}…` : text;
}

/** `"a", "b" or "c"`. */
export function oneOf(names: readonly string[]): string {
  const quoted = names.map(quote);
  return [quoted.slice(0, -1).join(', '), ...quoted.slice(-1)].filter(Boolean).join(' or ');
}
