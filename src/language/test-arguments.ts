import type { Cursor } from './cursor.ts';
import { findRule } from './grammar.ts';
import type { Argument } from './syntax.ts';
import type { Token, TokenKind } from './token.ts';

export const TOOL = "a tool's name";

/** The readers of single arguments. Each one reports a mistake and does not return. */
type Expect = {
  expect(what: string, ...kinds: readonly TokenKind[]): Token;
  expectKeyword(words: readonly string[]): Token;
  expectName(what?: string): Token;
  expectNumber(what: string, ...kinds: readonly TokenKind[]): Argument;
  expectText(): Argument;
};

/** Creates the readers of the arguments in a test. */
export function createTestArguments(
  cursor: Cursor,
  { expect, expectKeyword, expectName, expectNumber, expectText }: Expect,
) {
  function word(...words: readonly string[]): Argument {
    return { kind: 'word', token: expectKeyword(words) };
  }

  /** call = NAME "." ( NAME | STRING ) ; */
  function call(): Argument[] {
    const group = expectName('a tool such as orders.lookup');
    expect('"." and the name of a tool', '.');
    const token = cursor.at('string') ? cursor.next() : expectName(TOOL);
    return [
      { kind: 'name', token: group },
      { kind: 'tool', token },
    ];
  }

  /** Whether a tool follows, and not the next part of the test. */
  function isCall(): boolean {
    const { kind, text, startsLine } = cursor.peek();
    if (kind !== 'name' || cursor.following().kind === '.') return kind === 'name';
    return !startsLine && findRule('test', text) === undefined;
  }

  const isText = (): boolean => cursor.at('string') || cursor.at('triple');

  function rest(first: Argument): Argument[] {
    switch (first.token.text) {
      case 'reply':
        return [word('contains', 'omits', 'is', 'judged'), expectText()];
      case 'output':
        return [expectText()];
      case 'call':
        return [...call(), ...(isText() ? [expectText()] : [])];
      case 'no':
        return [word('call'), ...(isCall() ? call() : [])];
      default:
        return [word('below'), expectNumber('a whole number', 'integer')];
    }
  }

  return {
    call,
    /** outcome = ( "returns" | "fails" ) TEXT ; */
    outcome: (): Argument[] => [word('returns', 'fails'), expectText()],
    /** expected, by the table in grammar.ts. */
    expected(): Argument[] {
      const first = word('reply', 'output', 'call', 'no', 'tokens');
      return [first, ...rest(first)];
    },
  };
}
