import { createDiagnostics } from './diagnostic.ts';
import { BLOCKS } from './grammar.ts';
import { createLines } from './lines.ts';
import { type Parsed, parseSource } from './parser.ts';
import { createSource, isTooLarge } from './source.ts';
import { contentOf, unindent } from './strings.ts';
import type { Block, Member } from './syntax.ts';
import type { Token } from './token.ts';

/** A list is broken after each comma if its line would be longer. */
const MAX_WIDTH = 100;

/** Tokens without space before or after them, as in `env.NAME` and `string[]?`. */
const TIGHT_BEFORE = new Set([',', '.', '?', '[', ']']);
const TIGHT_AFTER = new Set(['.', '[']);

/**
 * Formats a source: two spaces per block, one line per setting, the values of small blocks in columns, and at most one
 * empty line in a row. Comments keep their positions and the meaning is unchanged. Formatting is idempotent.
 *
 * @returns `null` if the syntax is invalid.
 */
export function formatSource(input: string): string | null {
  if (isTooLarge(input)) return null;
  const source = createSource(input);
  const { report, hasErrors } = createDiagnostics(source);
  const parsed = parseSource(source, report);
  return parsed && !hasErrors() ? print(source.text, parsed) : null;
}

function print(text: string, { tokens, comments, document }: Parsed): string {
  const lines = createLines(text, comments);

  function printMember(member: Member, depth: number, inColumns: boolean): void {
    const { token, headEnd } = member;
    const head = tokens.slice(token.index, headEnd.index + 1);
    lines.begin(token, depth);
    const isLong = isLongList(head, depth);
    if (lines.hasCommentBefore(headEnd) || isLong) printBroken(head, depth, isLong);
    else lines.add(columnsOf(member, head, depth, inColumns), token, headEnd, depth);
    if (member.block) printBlock(member.block, depth);
  }

  /** Prints a head on several lines: breaks it at each comment and, in a long list, after each comma. */
  function printBroken(head: readonly Token[], depth: number, isLong: boolean): void {
    let part: Token[] = [];
    let partDepth = depth;
    for (const [index, token] of head.entries()) {
      part.push(token);
      const next = head[index + 1];
      const goesOn = next && !lines.hasCommentBefore(next) && !(isLong && token.kind === ',');
      if (goesOn) continue;
      lines.add([join(part, partDepth)], part[0] ?? token, token, partDepth);
      part = [];
      partDepth = depth + 1;
      if (next) lines.begin(next, partDepth);
    }
  }

  function printBlock(block: Block, depth: number): void {
    if (block.members.length === 0 && !lines.hasCommentBefore(block.close)) {
      lines.append(' {}', block.close);
      return;
    }
    lines.open(block.open);
    const inColumns = !BLOCKS[block.name].plain;
    for (const member of block.members) printMember(member, depth + 1, inColumns);
    lines.close(block.close, depth);
  }

  if (document.header) printMember(document.header, 0, false);
  lines.separate();
  printMember(document.agent, 0, false);
  return lines.end();
}

function isLongList(head: readonly Token[], depth: number): boolean {
  if (!head.some(({ kind }) => kind === ',')) return false;
  // Each token has a character, so that the first ones suffice.
  return depth * 2 + join(head.slice(0, MAX_WIDTH + 1), depth).length > MAX_WIDTH;
}

/** Splits a head into aligned columns: the word, an input's type, and the rest. */
function columnsOf(
  member: Member,
  head: readonly Token[],
  depth: number,
  inColumns: boolean,
): string[] {
  if (!inColumns || head.length === 1) return [join(head, depth)];
  const type = member.arguments.findIndex(({ kind }) => kind === 'type');
  const description = type === -1 ? undefined : member.arguments[type + 1];
  const cut = description ? head.length - 1 : head.length;
  const columns = [head.slice(0, 1), head.slice(1, cut), head.slice(cut)];
  return columns.filter(({ length }) => length > 0).map((tokens) => join(tokens, depth));
}

function join(tokens: readonly Token[], depth: number): string {
  return tokens
    .map((token, index) => {
      const previous = tokens[index - 1];
      const isTight = !previous || TIGHT_BEFORE.has(token.kind) || TIGHT_AFTER.has(previous.kind);
      return (
        (isTight ? '' : ' ') + (token.kind === 'triple' ? reindent(token, depth + 1) : token.text)
      );
    })
    .join('');
}

/** Changes the indentation of a `"""` text. Empty lines get none. */
function reindent(token: Token, depth: number): string {
  const [first = '', ...lines] = token.text.slice(3, -3).split('\n');
  if (lines.length === 0) return token.text;
  const { indentation } = contentOf(token);
  const indented = lines.map((line, index) => {
    const rest = unindent(line, indentation);
    return rest === '' && index < lines.length - 1 ? '' : '  '.repeat(depth) + rest;
  });
  return ['"""'.concat(first.trim() && first), ...indented].join('\n').concat('"""');
}
