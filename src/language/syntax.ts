import type { BlockName } from './grammar.ts';
import type { Token } from './token.ts';

/** An argument of a word. `strings` and `tools` give one argument for each item. */
export type Argument =
  | { readonly kind: 'string'; readonly token: Token }
  /** The value of a duration is in milliseconds. */
  | { readonly kind: 'number'; readonly token: Token; readonly value: number }
  | { readonly kind: 'name'; readonly token: Token }
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
  /** The keyword, after a correction of spelling; in a block of names, the name. */
  readonly word: string;
  readonly token: Token;
  readonly arguments: readonly Argument[];
  /** The word of an alternative form: `mcp`. */
  readonly form: string | undefined;
  readonly block: Block | undefined;
  /** The last token before the block. */
  readonly headEnd: Token;
  /** Whether a mistake was reported before its block. Its arguments are then unreliable. */
  readonly damaged: boolean;
};

export type Block = {
  readonly name: BlockName;
  /** The braces. For a missing brace, the token before which it was expected. */
  readonly open: Token;
  readonly close: Token;
  readonly members: readonly Member[];
  /** Whether reported mistakes may hide some members. */
  readonly damaged: boolean;
};

/** The syntax tree of a source. The header is undefined if it is missing. */
export type Document = { readonly header: Member | undefined; readonly agent: Member };
