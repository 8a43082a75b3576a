import { Tokenizer } from 'marked';
import { expect, test, vi } from 'vitest';
import { readMarkdown } from '../../src/text/markdown.ts';

/** The levels of tokens in tokens. */
function depthOf(tokens: unknown): number {
  if (!Array.isArray(tokens)) return 0;
  return Math.max(0, ...tokens.map(({ tokens, items }) => 1 + depthOf(items ?? tokens)));
}

test.each(['> ', '1. ', '- '])('32 Ki characters of %j are read to a limited depth', (mark) => {
  const tokens = readMarkdown(mark.repeat((32 * 1024) / mark.length), { breaks: true });
  expect(depthOf(tokens)).toBeLessThan(24);
});

test.each([4_096, 16_384])('marks of emphasis search a text in proportion to it: %d', (length) => {
  const search = vi.spyOn(Tokenizer.prototype, 'emStrong');
  readMarkdown('_a*'.repeat(length / 3));
  const searched = search.mock.calls.reduce((sum, [source]) => sum + source.length, 0);
  search.mockRestore();
  expect(searched).toBeGreaterThan(length);
  expect(searched).toBeLessThan(40 * length);
});

test('lines in an item search a limited text for the line under a heading', () => {
  const search = vi.spyOn(Tokenizer.prototype, 'lheading');
  readMarkdown(`- ${'a\n'.repeat(2_000)}`);
  const longest = Math.max(...search.mock.calls.map(([source]) => source.length));
  search.mockRestore();
  expect(longest).toBeLessThanOrEqual(200);
});

test('common Markdown is read as before', () => {
  const heading = readMarkdown('Title\n=====\n\n> quote\n> 1. **one** _two_ ~~three~~');
  expect(heading.map(({ type }) => type)).toEqual(['heading', 'space', 'blockquote']);
  expect(JSON.stringify(heading)).toMatch(/"strong".*"em".*"del"/);
});
