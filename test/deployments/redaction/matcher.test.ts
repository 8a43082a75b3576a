import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createMatcher } from '../../../src/redaction/matcher.ts';
import { runsOf } from '../../helpers/rounds.ts';

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'ß', '\ud83d'), minLength: 1 });
const words = fc.array(word, { maxLength: 8 });

/** The length of the longest pattern prefix that the text ends with, and the index of the longest pattern that it ends with. */
function naive(patterns: string[], text: string) {
  const beginnings = patterns.flatMap((pattern) =>
    Array.from(pattern, (_unit, index) => pattern.slice(0, index + 1)).concat(pattern),
  );
  const ends = (candidates: string[]) =>
    candidates
      .filter((candidate) => text.endsWith(candidate))
      .sort((one, other) => other.length - one.length)[0];
  const match = ends(patterns);
  return {
    depth: ends(beginnings)?.length ?? 0,
    match: match === undefined ? -1 : patterns.indexOf(match),
  };
}

describe('a matcher', () => {
  test('has after each unit the result of a search for all patterns', () => {
    fc.assert(
      fc.property(words, word, (patterns, text) => {
        const { next, depth, match } = createMatcher(patterns);
        let state = 0;
        for (let end = 1; end <= text.length; end += 1) {
          state = next(state, text.charCodeAt(end - 1));
          expect({ depth: depth[state], match: match[state] }).toEqual(
            naive(patterns, text.slice(0, end)),
          );
        }
      }),
      runsOf(100),
    );
  });

  test('takes memory in proportion to its patterns', () => {
    const patterns = Array.from({ length: 200 }, (_, index) => `${index}`.padEnd(320, 'x'));
    expect(createMatcher(patterns).size).toBeLessThan(200 * 320 * 32);
  });
});
