import { BLOCKS, type BlockName, findRule, type Rule } from '../../../../language/grammar.ts';
import { type Tokens, tokenize } from '../../../../language/lexer.ts';
import { type ParsedSource, parseInput } from '../../../../language/read.ts';
import type { Source } from '../../../../language/source.ts';
import type { Block, Document, Member } from '../../../../language/syntax.ts';
import type { Token } from '../../../../language/token.ts';

/** The tokens and the tree of a definition, as far as it can be parsed. Offsets count from the start of the editor's text. */
export type Syntax = Tokens & {
  source: Source;
  /** Undefined without an `agent` of this version of the language. */
  document: Document | undefined;
  /** Checks the values when it is first called. */
  check(): ParsedSource;
};

const ignore = () => {};

/** Parses a text with line breaks `\n` and no byte order mark. A text over 256 KiB has no tokens. */
export function readSyntax(text: string): Syntax {
  const { source, parsed, check } = parseInput(text);
  return { document: undefined, ...(parsed ?? { ...tokenize(source, ignore), source }), check };
}

/** A member of the tree, with the block that it is in and the members around it, outermost first. */
export type Place = { member: Member; block: BlockName; around: readonly Member[] };

/** Lists the members of all blocks in source order. The agent itself is not among them. */
export function placesOf({ document }: Syntax): Place[] {
  const places: Place[] = [];
  const visit = ({ name, members }: Block, around: readonly Member[]) => {
    for (const member of members) {
      places.push({ member, block: name, around });
      if (member.block) visit(member.block, [...around, member]);
    }
  };
  const agent = document?.agent;
  if (agent?.block) visit(agent.block, [agent]);
  return places;
}

/** The innermost block at an offset, with the members that own it and the blocks around it, outermost first. */
export function blockAt(
  { document }: Syntax,
  offset: number,
): { block: Block; owners: readonly Member[] } | undefined {
  const owners: Member[] = [];
  let found: Block | undefined;
  let next: Member | undefined = document?.agent;
  while (next?.block && holds(next.block, offset)) {
    owners.push(next);
    found = next.block;
    next = found.members.findLast(({ token }) => token.start < offset);
  }
  return found && { block: found, owners };
}

function holds({ open, close }: Block, offset: number): boolean {
  return open.end <= offset && offset <= close.start;
}

/** The offset after a member with its block. */
export function endOf({ block, headEnd }: Member): number {
  return block ? block.close.end : headEnd.end;
}

/** The index of the last token that begins before an offset; -1 if there is none. */
export function indexBefore({ tokens }: Tokens, offset: number): number {
  let low = 0;
  let high = tokens.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((tokens[middle]?.start ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The string around an offset, also one whose closing quotes are missing. */
export function stringAt(syntax: Syntax, offset: number): Token | undefined {
  const token = syntax.tokens[indexBefore(syntax, offset)];
  if (token?.kind !== 'string' && token?.kind !== 'triple') return undefined;
  return offset < token.end || (token.broken && offset <= token.end) ? token : undefined;
}

/** Whether an offset is in a comment. */
export function isInComment({ comments, source }: Syntax, offset: number): boolean {
  return comments.some(({ start }) => {
    const end = source.text.indexOf('\n', start);
    return start < offset && offset <= (end === -1 ? source.text.length : end);
  });
}

/** The rule of a member's word. */
export function ruleOf({ word }: Member, block: BlockName): Rule | undefined {
  return BLOCKS[block].names ?? findRule(block, word);
}
