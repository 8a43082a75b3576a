import { BOUNDS } from '../bounds.ts';
import type { DiagnosticCode } from '../diagnostic.ts';
import { findRule } from '../grammar.ts';
import { positionAt, type SourceRange } from '../source.ts';
import type { Block, Member } from '../syntax.ts';
import { quote, type Token } from '../token.ts';
import { type Check, nameOf } from './values.ts';

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
  return {
    /** The first member with a word. */
    get: (word: string): Member | undefined => first.get(word),
    /** All members with a word that may occur more than once. */
    all: (word: string): Member[] => block?.members.filter((member) => member.word === word) ?? [],
  };
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
    return `duplicate ${quote(name)}, it already stands in line ${line}`;
  });
}
