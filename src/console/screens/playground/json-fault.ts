/** The first place at which a text cannot be JSON: line and column from 1, offset from 0. */
export type JsonFault = { message: string; line: number; column: number; offset: number };

/** What must follow in a text, with the first characters of its tokens. */
type Expected = { name: string; begins: RegExp };

const VALUE: Expected = { name: 'a value', begins: /^["\w[{-]/ };
const FIRST_ITEM: Expected = { name: 'a value or ]', begins: /^["\w[{\]-]/ };
const KEY: Expected = { name: 'a name in double quotes', begins: /^"/ };
const FIRST_KEY: Expected = { name: 'a name in double quotes or }', begins: /^["}]/ };
const COLON: Expected = { name: ':', begins: /^:/ };
const NEXT_ITEM: Expected = { name: ', or ]', begins: /^[,\]]/ };
const NEXT_KEY: Expected = { name: ', or }', begins: /^[,}]/ };
const END: Expected = { name: 'the end', begins: /(?!)/ };

const OPEN_STRING = String.raw`"[^"\\\0-\x1f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\0-\x1f]*)*`;
const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`;
const SPACE = /[ \t\n\r]*/y;
const TOKEN = new RegExp(`[{}[\\]:,]|${OPEN_STRING}"|${NUMBER}|true|false|null`, 'y');
const BROKEN_STRING = new RegExp(OPEN_STRING, 'y');
/** A word or a character, as a message quotes it. */
const WORD = /[\w.+-]+|./suy;

/**
 * Finds the first fault of a text that is not JSON. The browsers' `JSON.parse` reports faults with different texts, and
 * some without a place.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  /** The open brackets, the innermost last. */
  const open: string[] = [];
  let expected = VALUE;
  let offset = 0;
  for (;;) {
    offset += matchAt(SPACE, text, offset).length;
    if (expected === END && offset === text.length) return undefined;
    const token = matchAt(TOKEN, text, offset);
    if (!expected.begins.test(token)) break;
    offset += token.length;
    if (token === '{' || token === '[') open.push(token);
    if (token === '}' || token === ']') open.pop();
    expected = expectedAfter(token, expected, open.at(-1));
  }
  const broken = expected.begins.test('"') ? matchAt(BROKEN_STRING, text, offset) : '';
  offset += broken.length;
  const before = text.slice(0, offset).split('\n');
  return {
    message: messageOf(matchAt(WORD, text, offset), broken ? undefined : expected),
    line: before.length,
    column: (before.at(-1) ?? '').length + 1,
    offset,
  };
}

function matchAt(pattern: RegExp, text: string, offset: number): string {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0] ?? '';
}

function expectedAfter(token: string, expected: Expected, bracket: string | undefined): Expected {
  if (token === '{') return FIRST_KEY;
  if (token === '[') return FIRST_ITEM;
  if (token === ':') return VALUE;
  if (token === ',') return bracket === '{' ? KEY : VALUE;
  if ((expected === KEY || expected === FIRST_KEY) && token !== '}') return COLON;
  return bracket === undefined ? END : bracket === '{' ? NEXT_KEY : NEXT_ITEM;
}

/** @param expected is undefined within a string. */
function messageOf(found: string, expected: Expected | undefined): string {
  if (!found) return `Expected ${expected?.name ?? '" to close the string'}, but the text ends.`;
  if (expected) return `Expected ${expected.name}, found ${found}`;
  if (found === '\\') return 'This escape does not exist in JSON.';
  return 'A string must not contain a line break or another control character.';
}
