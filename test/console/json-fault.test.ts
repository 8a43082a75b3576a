import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findJsonFault } from '../../src/console/screens/playground/json-fault.ts';

describe('the fault of a text that is not JSON', () => {
  test.each([
    ['', 'Expected a value, but the text ends.', 0],
    ['{', 'Expected a name in double quotes or }, but the text ends.', 1],
    ['{"a": 1, }', 'Expected a name in double quotes, found }', 9],
    ["{'a': 1}", "Expected a name in double quotes or }, found '", 1],
    ['{"a" 1}', 'Expected :, found 1', 5],
    ['{"a": undefined}', 'Expected a value, found undefined', 6],
    ['{"a": 1 "b": 2}', 'Expected , or }, found "', 8],
    ['[1, 2', 'Expected , or ], but the text ends.', 5],
    ['[1, ]', 'Expected a value, found ]', 4],
    ['[,]', 'Expected a value or ], found ,', 1],
    ['[01]', 'Expected , or ], found 1', 2],
    ['[-]', 'Expected a value or ], found -', 1],
    ['{} {}', 'Expected the end, found {', 3],
    ['{"a": "b}', 'Expected " to close the string, but the text ends.', 9],
    ['{"a": "\\x"}', 'This escape does not exist in JSON.', 7],
    ['["a\tb"]', 'A string must not contain a line break or another control character.', 3],
    ['[😀]', 'Expected a value or ], found 😀', 1],
  ])('of %j is "%s"', (text, message, offset) => {
    expect(findJsonFault(text)).toEqual({ message, line: 1, column: offset + 1, offset });
  });

  test('has the line and the column', () => {
    const text = '{\n  "plan": "pro",\n  oops\n}';
    expect(findJsonFault(text)).toMatchObject({ line: 3, column: 3, offset: 21 });
  });

  test('exists exactly if JSON.parse rejects the text', () => {
    const piece = fc.constantFrom(...'{}[]:,"\\u0041 \n-.1e+', 'true', 'null', '"a"', '"b":', 'x');
    const json = fc.json({ maxDepth: 3 });
    const broken = fc
      .tuple(json, fc.nat(), fc.nat(3), fc.array(piece, { maxLength: 3 }))
      .map(([text, at, cut, pieces]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + pieces.join('') + text.slice(place + cut);
      });
    const pieces = fc.array(piece, { maxLength: 12 }).map((all) => all.join(''));
    fc.assert(
      fc.property(fc.oneof(json, broken, pieces), (text) => {
        expect(findJsonFault(text) === undefined).toBe(isJson(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ['["', 'a'],
    ['["', '\\n'],
    ['[', '['],
    ['[', '1,'],
  ])('is found after %j and a million times %j', (start, piece) => {
    const text = start + piece.repeat(1_000_000);
    expect(findJsonFault(text)?.offset).toBe(text.length);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
