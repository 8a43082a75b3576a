import { describe, expect, test } from 'vitest';
import { diffTexts } from '../../../src/console/diff/text-diff.ts';

const lines = (count: number, text: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => text(at)).join('\n');

describe('the difference of two texts', () => {
  test('has the changed lines with their numbers in both texts', () => {
    const { blocks, added, removed } = diffTexts('a\nb\nc\nd\n', 'a\nB\nx\nc\nd\n');
    expect(blocks).toEqual([
      { isSame: true, firstBefore: 1, firstAfter: 1, before: ['a'], after: ['a'] },
      { isSame: false, firstBefore: 2, firstAfter: 2, before: ['b'], after: ['B', 'x'] },
      { isSame: true, firstBefore: 3, firstAfter: 4, before: ['c', 'd'], after: ['c', 'd'] },
    ]);
    expect([added, removed]).toEqual([2, 1]);
  });

  test('counts every line as added if there is no text before', () => {
    const { blocks, added, removed, isOnlyEndings } = diffTexts(undefined, 'a\nb\n');
    expect(blocks.map(({ isSame, after }) => [isSame, after])).toEqual([[false, ['a', 'b']]]);
    expect([added, removed, isOnlyEndings]).toEqual([2, 0, false]);
  });

  test('reports texts that differ only in their line endings', () => {
    expect(diffTexts('a\r\nb', 'a\nb\n')).toMatchObject({
      added: 0,
      removed: 0,
      isOnlyEndings: true,
    });
    expect(diffTexts('a\n', 'a\n').isOnlyEndings).toBe(false);
  });

  test('shows the changed sentence of a line of 5 MB', () => {
    const sentences = lines(150_000, (at) => `Sentence ${at} of one long line.`).split('\n');
    const before = sentences.join(' ');
    const after = sentences.with(99_999, 'Another 👋 one.').join(' ');
    const { blocks, added, removed } = diffTexts(before, after);
    expect([added, removed]).toEqual([1, 1]);
    expect(blocks[1]).toMatchObject({ firstBefore: 100_000, after: ['Another 👋 one. '] });
    const broken = diffTexts(undefined, '👋'.repeat(3_000)).blocks[0]?.after ?? [];
    expect(broken.map((part) => part.length)).toEqual([4_000, 2_000]);
    expect(broken.every((part) => part.isWellFormed())).toBe(true);
  });

  test('of large texts without a common line is one replacement between their equal ends', () => {
    const before = `start\n${lines(20_000, (at) => `old ${at}`)}\nend`;
    const after = `start\n${lines(20_000, (at) => `new ${at}`)}\nend`;
    const { blocks, added, removed } = diffTexts(before, after);
    expect(blocks.map(({ isSame }) => isSame)).toEqual([true, false, true]);
    expect([added, removed]).toEqual([20_000, 20_000]);
    expect(blocks[2]).toMatchObject({ firstBefore: 20_002, firstAfter: 20_002 });
  });
});
