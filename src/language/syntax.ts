import type { BlockName } from './grammar.ts';
import type { Token } from './token.ts';

/** An argument of a word. A list gives one argument for each item. */
export type Argument =
  | { readonly kind: 'string'; readonly token: Token }
  /** The value of a duration is in milliseconds. */
  | { readonly kind: 'number'; readonly token: Token; readonly value: number }
  | { readonly kind: 'name'; readonly token: Token }
  /** The name of a server's tool, as a name or a string, or `all`. */
  | { readonly kind: 'tool'; readonly token: Token }
  /** A keyword inside the arguments of a test, such as `returns`. */
  | { readonly kind: 'word'; readonly token: Token }
  /** `env.NAME`; the token is the name. */
  | { readonly kind: 'env'; readonly token: Token }
  | TypeArgument;

export type TypeArgument = {
  readonly kind: 'type';
  /** The scalar's name, or the first of the choices. */
  readonly token: Token;
  /** Strings; empty for a scalar. */
  readonly choices: readonly Token[];
  readonly list: boolean;
  readonly optional: boolean;
};

/** A word with its arguments and block: the one form of the language. */
export type Member = {
  /** The keyword, also if the source has another word for it; in a block of names, the name. */
  readonly word: string;
  readonly token: Token;
  readonly arguments: readonly Argument[];
  /** The word of an alternative form: `mcp`. */
  readonly form: string | undefined;
  readonly block: Block | undefined;
  /** The last token before the block. */
  readonly headEnd: Token;
  /** Whether a mistake was reported before its block. Some of its arguments are then missing. */
  readonly damaged: boolean;
};

export type Block = {
  readonly name: BlockName;
  /** The braces. For a missing brace, the token before which it was expected. */
  readonly open: Token;
  readonly close: Token;
  readonly members: readonly Member[];
  /** The first tokens of members without a word: strings, and braces of blocks. */
  readonly unnamed: readonly Token[];
};

/** The syntax tree of a source. */
export type Document = {
  /** Undefined if it is missing. */
  readonly header: Member | undefined;
  readonly agent: Member;
  /** Whether a reported mistake may hide the members with a word: one is in another block, or text hides the rest. */
  readonly mayHide: (word: string) => boolean;
};
