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

/** Reports each name that stands there already; `keyOf` says which ones are the same. */
export function checkNames(
  tokens: readonly Token[],
  check: Check,
  keyOf: (name: string) => string = (name) => name,
): void {
  const first = new Map<string, Token>();
  for (const token of tokens) {
    const name = nameOf(token);
    const key = keyOf(name);
    const earlier = first.get(key);
    if (earlier) reportTwice('duplicate-name', name, token, earlier, check);
    else first.set(key, token);
    if (name === '__proto__')
      check.report(
        'reserved-name',
        token.start,
        '"__proto__" is no name that JSON can carry safely',
      );
  }
}

function reportTwice(
  code: DiagnosticCode,
  name: string,
  token: Token,
  earlier: Token,
  { report, source }: Check,
): void {
  const { line } = positionAt(source, earlier.start);
  report(code, token.start, `duplicate ${quote(name)}, it already stands in line ${line}`);
}
