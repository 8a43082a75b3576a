import { describe, expect, test } from 'vitest';
import { compareWords, type WordPart } from '../../../src/console/diff/words.ts';

const marked = (parts: WordPart[]) =>
  parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join('');

describe('the words of a changed line', () => {
  test('are marked where the lines differ', () => {
    const { before, after } = compareWords(
      '  temperature 0.2 and brief',
      '  temperature 0.7 and brief',
    );
    expect(marked(before)).toContain('[2]');
    expect(marked(after)).toContain('[7]');
    expect(before.map(({ text }) => text).join('')).toBe('  temperature 0.2 and brief');
  });

  test('are not marked if the lines have little in common', () => {
    const { before, after } = compareWords('channel web', 'prompt "You are brief."');
    expect([marked(before), marked(after)]).toEqual(['channel web', 'prompt "You are brief."']);
  });

  test('are not compared in very long lines', () => {
    const long = 'word '.repeat(100_000);
    expect(compareWords(long, `${long}!`).after).toEqual([{ text: `${long}!`, isChanged: false }]);
  });
});
