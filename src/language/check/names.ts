import { BOUNDS } from '../bounds.ts';
import type { DiagnosticCode } from '../diagnostic.ts';
import { findRule } from '../grammar.ts';
import { positionAt } from '../source.ts';
import type { Block, Member } from '../syntax.ts';
import { quote, type Token } from '../token.ts';
import { type Check, nameOf } from './values.ts';

/** The members of a block by their words. A word that may stand once and stands twice is reported. */
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
    /** The first one of a word. */
    get: (word: string): Member | undefined => first.get(word),
    /** All of them, of a word that may stand more than once. */
    all: (word: string): Member[] => block?.members.filter((member) => member.word === word) ?? [],
  };
}

/** What is asked of the names of one list. */
export type NameRules = {
  /** How many there may be, if that is to be checked here. */
  max?: { readonly count: number; readonly what: string };
  /** The most characters of each: 64 by default. */
  maxLength?: number;
  /** Which ones are the same: those that are equal, by default. */
  keyOf?: (name: string) => string;
};

/** Reports each name that stands there already, that is too long, or that is one too many. */
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
    if (name.length > maxLength) reportLongName(name, token.start, maxLength, check);
    if (name === '__proto__')
      check.report(
        'reserved-name',
        token.start,
        '"__proto__" is no name that JSON can carry safely',
      );
  }
}

/** Reports the first one of a list that is too many. */
export function checkCount(
  tokens: readonly Token[],
  { count, what }: { count: number; what: string },
  { report }: Pick<Check, 'report'>,
): void {
  const extra = tokens[count];
  if (!extra) return;
  report('too-many', extra.start, `expected at most ${count} ${what}, found ${tokens.length}`);
}

export function reportLongName(
  name: string,
  offset: number,
  maxLength: number,
  { report }: Pick<Check, 'report'>,
): void {
  report('invalid-name', offset, () => {
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
  report(code, token.start, () => {
    const { line } = positionAt(source, earlier.start);
    return `duplicate ${quote(name)}, it already stands in line ${line}`;
  });
}
