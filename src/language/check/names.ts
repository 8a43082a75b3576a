import { BOUNDS } from '../bounds.ts';
import type { DiagnosticCode } from '../diagnostic.ts';
import { findRule, type Rule } from '../grammar.ts';
import { positionAt, type SourceRange } from '../source.ts';
import type { Block, Member } from '../syntax.ts';
import { quote, type Token } from '../token.ts';
import { type Check, nameOf } from './values.ts';

export type Settings = ReturnType<typeof settingsOf>;

/** Groups the members of a block by word. Reports a repeated word that may occur only once. */
export function settingsOf(block: Block | undefined, check: Check) {
  const first = new Map<string, Member>();
  for (const member of block?.members ?? []) {
    const { word, token } = member;
    const earlier = first.get(word);
    if (!earlier) first.set(word, member);
    else if (block && !findRule(block.name, word)?.repeats)
      reportTwice('duplicate-setting', word, token, earlier.token, check);
  }
  const all = (word: string): Member[] =>
    block?.members.filter((member) => member.word === word) ?? [];
  return {
    /** All members with a word. */
    all,
    /** Checks all members with a word. @returns the value of the first one. */
    read<Value>(word: string, check: (member: Member) => Value): Value | undefined {
      return all(word).map(check)[0];
    },
  };
}

/** Whether a block has no member with any of the words, and no reported mistake may be the reason. */
export function lacks(block: Block, words: Iterable<string>, { mayHide }: Check): boolean {
  return [...words].every((word) => {
    const rule = findRule(block.name, word);
    const isThere = block.members.some((member) => member.word === word);
    return !isThere && !mayHide(word) && !block.unnamed.some((token) => rule && fits(token, rule));
  });
}

/** The names that blocks of an outer block declare, or `unknown` if a reported mistake may hide some. */
export function declaredIn(
  outer: Block | undefined,
  word: string,
  { mayHide }: Check,
): ReadonlySet<string> | 'unknown' {
  const blocks = outer?.members.filter((member) => member.word === word) ?? [];
  const isUnnamed = outer?.unnamed.some(({ kind }) => kind === '{');
  if (isUnnamed || mayHide(word) || blocks.some(({ block }) => !block)) return 'unknown';
  return new Set(blocks.flatMap(({ block }) => block?.members.map((member) => member.word) ?? []));
}

/** Whether a member that begins with a token could be one whose word is missing. */
function fits({ kind, text }: Token, { shapes: [shape], block }: Rule): boolean {
  if (kind === '{') return shape === undefined && block !== undefined;
  if (kind === 'string' || kind === 'triple') return shape === 'string' || shape === 'text';
  return text === 'env' && shape === 'env';
}

/** The rules for the names in a list. */
export type NameRules = {
  /** The most names. If omitted, the count is not checked. */
  max?: { readonly count: number; readonly what: string };
  /** The most characters of a name: 64 by default. */
  maxLength?: number;
  /** Maps a name to the key that must be unique; by default the name itself. */
  keyOf?: (name: string) => string;
};

/** Reports duplicate names, names that are too long, and a list with too many names. */
export function checkNames(
  tokens: readonly Token[],
  check: Check,
  { max, maxLength = BOUNDS.nameLength, keyOf = (name) => name }: NameRules = {},
): void {
  const first = new Map<string, Token>();
  if (max) checkCount(tokens, max, check);
  for (const token of tokens) {
    const name = nameOf(token);
    const key = keyOf(name);
    const earlier = first.get(key);
    if (earlier) reportTwice('duplicate-name', name, token, earlier, check);
    else first.set(key, token);
    if (name.length > maxLength) reportLongName(name, token, maxLength, check);
    if (name === '__proto__')
      check.report('reserved-name', token, '"__proto__" is no name that JSON can carry safely');
  }
}

/** Reports the first item beyond the limit of a list. */
export function checkCount(
  tokens: readonly Token[],
  { count, what }: { count: number; what: string },
  { report }: Pick<Check, 'report'>,
): void {
  const extra = tokens[count];
  if (!extra) return;
  report('too-many', extra, `expected at most ${count} ${what}, found ${tokens.length}`);
}

export function reportLongName(
  name: string,
  range: SourceRange,
  maxLength: number,
  { report }: Pick<Check, 'report'>,
): void {
  report('invalid-name', range, () => {
    return `the name ${quote(name)} has ${name.length} characters, expected at most ${maxLength}`;
  });
}

function reportTwice(
  code: DiagnosticCode,
  name: string,
  token: Token,
  earlier: Token,
  { report, source }: Check,
): void {
  report(code, token, () => {
    const { line } = positionAt(source, earlier.start);
    const spelling = nameOf(earlier) === name ? '' : ` as ${quote(nameOf(earlier))}`;
    return `duplicate ${quote(name)}, it is already in line ${line}${spelling}`;
  });
}
