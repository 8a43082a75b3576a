import { type Cursor, reportExpected } from './cursor.ts';
import { BODY_FORMATS, REASONING_EFFORTS, SCALARS } from './definition.ts';
import type { Report } from './diagnostic.ts';
import { findRule, type Shape } from './grammar.ts';
import { explain, meaningOfType } from './meanings.ts';
import { hint } from './suggest.ts';
import type { Argument } from './syntax.ts';
import { createTestArguments, TOOL } from './test-arguments.ts';
import { describe, oneOf, quote, type Token, type TokenKind } from './token.ts';

/** Thrown after a mistake is reported, and caught in this file. */
const MISTAKE = Symbol('mistake');

const STRING = 'a string in double quotes';
const ALL_OR_TOOL = `"all" or ${TOOL}`;

const isScalar = (text: string): boolean => SCALARS.some((name) => name === text);

export type Arguments = {
  readonly arguments: readonly Argument[];
  /** Whether all arguments that the rule requires were read. */
  readonly complete: boolean;
};

/** Creates the parser of the arguments that follow a word. */
export function createArgumentParser(cursor: Cursor, report: Report) {
  function fail(what: string): never {
    reportExpected(what, cursor, report);
    throw MISTAKE;
  }

  function expect(what: string, ...kinds: readonly TokenKind[]): Token {
    return kinds.includes(cursor.peek().kind) ? cursor.next() : fail(what);
  }

  function expectKeyword(words: readonly string[], hint = ''): Token {
    if (words.some((word) => cursor.atWord(word))) return cursor.next();
    return fail(oneOf(words) + hint);
  }

  function expectName(what = 'a name'): Token {
    const token = cursor.peek();
    if (token.kind !== 'other' || token.startsLine) return expect(what, 'name');
    reportInvalidName(token, report);
    throw MISTAKE;
  }

  function expectNumber(what: string, ...kinds: readonly TokenKind[]): Argument {
    const token = expect(what, ...kinds);
    return { kind: 'number', token, value: numberOf(token) };
  }

  function skip(kind: TokenKind): boolean {
    if (!cursor.at(kind)) return false;
    cursor.next();
    return true;
  }

  /** env_ref = "env" "." NAME ; */
  function expectEnv(what: string): Argument {
    if (!cursor.atWord('env')) fail(what);
    cursor.next();
    expect('"."', '.');
    return { kind: 'env', token: expectName() };
  }

  /** item { "," item } */
  function list(item: (index: number) => Argument): Argument[] {
    const items = [item(0)];
    while (skip(',')) items.push(item(items.length));
    return items;
  }

  /** tool { "," tool }, with a tool's name as a name or a string. */
  function toolList(first: string): Argument[] {
    return list((index) => expectTool(index === 0 ? first : TOOL));
  }

  function expectTool(what: string): Argument {
    return { kind: 'tool', token: cursor.at('string') ? cursor.next() : expectName(what) };
  }

  /** Whether the next line begins another setting of a server. A tool of this name is then written in quotes. */
  function isNextSetting(): boolean {
    const { kind, text, startsLine } = cursor.peek();
    return startsLine && kind === 'name' && findRule('mcp', text) !== undefined;
  }

  /** type = ( "string" | "number" | "integer" | "boolean" ) [ "[" "]" ] | STRING "|" STRING { "|" STRING } ; */
  function expectType(): Argument {
    const token = cursor.peek();
    const choices: Token[] = [];
    let isList = false;
    if (token.kind === 'string') {
      choices.push(cursor.next());
      expect('"|" and another string', '|');
      do choices.push(expect(STRING, 'string'));
      while (skip('|'));
    } else {
      expectScalar();
      isList = skip('[');
      if (isList) expect('"]"', ']');
    }
    return { kind: 'type', token, choices, list: isList, optional: skip('?') };
  }

  /** Reports an unknown name, but still reads it as a type. */
  function expectScalar(): Token {
    const token = cursor.peek();
    if (isScalar(token.text)) return cursor.next();
    const isName = token.kind === 'name' || token.kind === 'other';
    if (!isName || token.startsLine) return fail('a type');
    report('unknown-type', token, () => {
      const meaning = meaningOfType(token.text);
      const end = meaning ? explain(meaning) : hint(token.text, SCALARS);
      return `unknown type ${quote(token.text)}${end}`;
    });
    return cursor.next();
  }

  /** value = NUMBER | "true" | "false" | STRING ; */
  function expectValue(): Argument {
    if (cursor.at('string')) return { kind: 'string', token: cursor.next() };
    if (cursor.atWord('true') || cursor.atWord('false'))
      return { kind: 'name', token: cursor.next() };
    return expectNumber('a number, "true", "false" or a string', 'integer', 'number');
  }

  function expectText(): Argument {
    return { kind: 'string', token: expect('a string or a """ text', 'string', 'triple') };
  }

  const tests = createTestArguments(cursor, {
    expect,
    expectKeyword,
    expectName,
    expectNumber,
    expectText,
  });

  function read(shape: Shape): Argument[] {
    switch (shape) {
      case 'string':
        return [{ kind: 'string', token: expect(STRING, 'string') }];
      case 'string?':
        return cursor.at('string') ? [{ kind: 'string', token: cursor.next() }] : [];
      case 'text':
        return [expectText()];
      case 'integer':
        return [expectNumber('a whole number', 'integer')];
      case 'number':
        return [expectNumber('a number', 'integer', 'number')];
      case 'duration':
        return [expectNumber('a duration such as 500ms, 30s or 2m', 'duration')];
      case 'name':
        return [{ kind: 'name', token: expectName() }];
      case 'env':
        return [expectEnv('env.NAME')];
      case 'address':
        return cursor.at('string')
          ? read('string')
          : [expectEnv('a URL in double quotes or env.NAME')];
      case 'strings':
        return list(() => ({ kind: 'string', token: expect(STRING, 'string') }));
      case 'tool':
        return [expectTool(TOOL)];
      case 'tools':
        return toolList(TOOL);
      case 'approved':
        if (isNextSetting()) fail(ALL_OR_TOOL);
        return toolList(ALL_OR_TOOL);
      case 'chats':
        return cursor.at('string')
          ? read('string')
          : [expectEnv('chat ids in double quotes or env.NAME')];
      case 'names':
        return list(() => ({ kind: 'name', token: expectName() }));
      case 'body':
        return [{ kind: 'name', token: expectKeyword(BODY_FORMATS, ' for the inputs') }];
      case 'window': {
        const token = expectKeyword(['none', 'last']);
        if (token.text === 'none') return [{ kind: 'name', token }];
        const count = expectNumber('a whole number', 'integer');
        expectKeyword(['messages']);
        return [count];
      }
      case 'effort':
        return [{ kind: 'name', token: expectKeyword(REASONING_EFFORTS) }];
      case 'value':
        return [expectValue()];
      case 'type':
        return [expectType()];
      case 'call':
        return tests.call();
      case 'outcome':
        return tests.outcome();
      case 'expected':
        return tests.expected();
    }
  }

  /** If the arguments are incomplete, the mistake is reported and the cursor is at its position. */
  return function parseArguments(shapes: readonly Shape[]): Arguments {
    const result: Argument[] = [];
    try {
      for (const shape of shapes) for (const argument of read(shape)) result.push(argument);
      return { arguments: result, complete: true };
    } catch (mistake) {
      if (mistake !== MISTAKE) throw mistake;
      return { arguments: result, complete: false };
    }
  };
}

/** Reports a token that is not a valid name. */
export function reportInvalidName(token: Token, report: Report): void {
  report('invalid-name', token, () => {
    return `invalid name ${describe(token)}, expected letters, digits and "_", no digit first`;
  });
}

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The value of a number, or of a duration in milliseconds. */
function numberOf({ kind, text }: Token): number {
  if (kind !== 'duration') return Number(text);
  const number = parseFloat(text);
  const unit = text.replace(/^[\d.]+/, '');
  const milliseconds = Object.entries(UNITS).find(([name]) => name === unit)?.[1] ?? 1;
  return Math.round(number * milliseconds);
}
