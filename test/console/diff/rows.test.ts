import { describe, expect, test } from 'vitest';
import {
  type DiffItem,
  foldRows,
  MAX_ROWS,
  openFold,
  rowsOf,
} from '../../../src/console/diff/rows.ts';
import { diffTexts } from '../../../src/console/diff/text-diff.ts';

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`);
const rowsIn = (before: string[], after: string[], layout: 'split' | 'unified' = 'unified') =>
  rowsOf(diffTexts(before.join('\n'), after.join('\n')).blocks, layout);
const folds = (items: DiffItem[]) =>
  items.flatMap((item) => (item.type === 'fold' ? [[item.at, item.count, item.isSame]] : []));

describe('the rows of a diff', () => {
  test('pair removed and added lines in the split layout, and list them in the unified one', () => {
    const [before, after] = [
      ['a', 'b', 'c'],
      ['a', 'x', 'y', 'c'],
    ];
    const numbers = (layout: 'split' | 'unified') =>
      rowsIn(before, after, layout).map((row) => [row.before?.number, row.after?.number]);
    expect(numbers('split')).toEqual([
      [1, 1],
      [2, 2],
      [undefined, 3],
      [3, 4],
    ]);
    expect(numbers('unified')).toEqual([
      [1, 1],
      [2, undefined],
      [undefined, 2],
      [undefined, 3],
      [3, 4],
    ]);
  });

  test('fold away unchanged lines more than three rows from a change', () => {
    const before = numbered(40);
    const after = before.with(19, 'changed');
    expect(folds(foldRows(rowsIn(before, after), new Set()))).toEqual([
      [0, 16, true],
      [24, 17, true],
    ]);
  });

  test('do not fold fewer than four lines', () => {
    const before = numbered(7);
    expect(folds(foldRows(rowsIn(before, before.with(6, 'changed')), new Set()))).toEqual([]);
  });

  test('show the rows of an opened fold, and keep the other folds', () => {
    const before = numbered(40);
    const rows = rowsIn(before, before.with(19, 'changed'));
    const items = foldRows(rows, openFold(new Set(), 0, 16));
    expect(items[0]).toMatchObject({ type: 'row', at: 0 });
    expect(folds(items)).toEqual([[24, 17, true]]);
  });

  test('show the first 300 lines of a long change, and 300 more at each opening', () => {
    const rows = rowsIn([], numbered(800));
    const first = foldRows(rows, new Set());
    expect(first).toHaveLength(MAX_ROWS + 1);
    expect(folds(first)).toEqual([[300, 500, false]]);
    const opened = openFold(new Set(), 300, 500);
    expect(folds(foldRows(rows, opened))).toEqual([[600, 200, false]]);
    expect(folds(foldRows(rows, openFold(opened, 600, 200)))).toEqual([]);
  });
});
