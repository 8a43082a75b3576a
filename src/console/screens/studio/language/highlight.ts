import { BLOCKS, type BlockName } from '../../../../language/grammar.ts';
import type { Argument, Block, Document, Member } from '../../../../language/syntax.ts';
import type { Token } from '../../../../language/token.ts';
import { endOf, indexBefore, type Syntax } from './syntax.ts';

/** How a part of the text is shown. Each has a class of the editor's theme. */
export type Role =
  | 'keyword'
  | 'name'
  | 'type'
  | 'constant'
  | 'string'
  | 'template'
  | 'escape'
  | 'number'
  | 'comment'
  | 'invalid';

export type Mark = { from: number; to: number; role: Role };

/** A template, or an escape. */
const IN_STRING = /\{\{[^{}\n]*\}\}|\\(?:["\\nt{]|u\{[0-9A-Fa-f]{1,6}\})/g;

/** Lists the marks of the lines between two offsets, in source order. Marks inside a string follow the mark of the string. */
export function marksIn(syntax: Syntax, from: number, to: number): Mark[] {
  const { tokens, comments, source, document } = syntax;
  const roles = document ? rolesIn(document, tokens, from, to) : new Map<number, Role>();
  const marks: Mark[] = [];
  const first = Math.max(0, indexBefore(syntax, from));
  for (let index = first; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (!token || token.start >= to) break;
    const role = roles.get(index) ?? ROLES[token.kind];
    if (!role || token.end <= from) continue;
    marks.push({ from: token.start, to: token.end, role });
    if (role === 'string') marks.push(...marksInString(source.text, token, from, to));
  }
  for (const { start, end } of comments)
    if (start < to && end > from) marks.push({ from: start, to: end, role: 'comment' });
  return marks.sort((one, other) => one.from - other.from || other.to - one.to);
}

const ROLES: { readonly [kind in Token['kind']]?: Role } = {
  string: 'string',
  triple: 'string',
  integer: 'number',
  number: 'number',
  duration: 'number',
  other: 'invalid',
};

function marksInString(text: string, { start, end }: Token, from: number, to: number): Mark[] {
  const first = Math.max(start, from);
  const part = text.slice(first, Math.min(end, to));
  return [...part.matchAll(IN_STRING)].map(({ 0: found, index }) => ({
    from: first + index,
    to: first + index + found.length,
    role: found.startsWith('{') ? 'template' : 'escape',
  }));
}

/** The roles of words, by the index of their token. The tree has them; the lexer cannot tell a keyword from a name. */
function rolesIn(
  { header, agent }: Document,
  tokens: readonly Token[],
  from: number,
  to: number,
): Map<number, Role> {
  const roles = new Map<number, Role>();

  function visitHead({ word, token, arguments: all, headEnd }: Member, role: Role): void {
    for (let index = token.index + 1; index <= headEnd.index; index += 1)
      if (tokens[index]?.kind === 'name') roles.set(index, 'keyword');
    for (const argument of all) {
      const own = roleOf(argument, word);
      if (own && argument.token.kind === 'name') roles.set(argument.token.index, own);
    }
    roles.set(token.index, role);
  }

  function visitBlock({ name, members }: Block): void {
    for (const member of members) {
      if (member.token.start >= to) return;
      if (endOf(member) <= from) continue;
      visitHead(member, wordRole(name));
      if (member.block) visitBlock(member.block);
    }
  }

  if (header) visitHead(header, 'keyword');
  visitHead(agent, 'keyword');
  if (agent.block) visitBlock(agent.block);
  return roles;
}

function wordRole(block: BlockName): Role {
  return BLOCKS[block].words ? 'keyword' : 'name';
}

const CONSTANTS = ['json', 'form', 'none'];

function roleOf({ kind, token }: Argument, word: string): Role | undefined {
  if (kind === 'type') return 'type';
  if (kind === 'name') return CONSTANTS.includes(token.text) ? 'constant' : 'name';
  if (kind === 'tool') return word === 'approval' && token.text === 'all' ? 'constant' : 'name';
  return kind === 'env' ? 'name' : undefined;
}
