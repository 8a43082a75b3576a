import type { BlockName } from './grammar.ts';
import type { Token } from './token.ts';

/** What stands after a word. `strings` and `tools` give one argument for each of their items. */
export type Argument =
  | { readonly kind: 'string'; readonly token: Token }
  /** Of a duration the value is in milliseconds. */
  | { readonly kind: 'number'; readonly token: Token; readonly value: number }
  | { readonly kind: 'name'; readonly token: Token }
  /** `env.NAME`; the token is the name. */
  | { readonly kind: 'env'; readonly token: Token }
  | TypeArgument;

export type TypeArgument = {
  readonly kind: 'type';
  /** The scalar's name, or the first of the choices. */
  readonly token: Token;
  /** Strings; none for a scalar. */
  readonly choices: readonly Token[];
  readonly list: boolean;
  readonly optional: boolean;
};

/** A word with what follows it: the one form of everything in the language. */
export type Member = {
  /** The word of the language that it is or was meant to be; in a block of names, the name. */
  readonly word: string;
  readonly token: Token;
  readonly arguments: readonly Argument[];
  /** The word that led on to another rule: `mcp`. */
  readonly form: string | undefined;
  readonly block: Block | undefined;
  /** The last token before the block. */
  readonly headEnd: Token;
  /** Whether a mistake in its head was reported: then its arguments are not to be relied on. */
  readonly damaged: boolean;
};

export type Block = {
  readonly name: BlockName;
  /** Its braces; where one is missing, the token before which it was expected. */
  readonly open: Token;
  readonly close: Token;
  readonly members: readonly Member[];
  /** Whether mistakes were reported that may hide some of its members. */
  readonly damaged: boolean;
};

/** A source whose header and agent were found. */
export type Document = { readonly header: Member | undefined; readonly agent: Member };
