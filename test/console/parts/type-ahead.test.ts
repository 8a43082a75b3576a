import { expect, test } from 'vitest';
import { createTypeAhead } from '../../../src/console/parts/type-ahead.ts';

const NAMES = ['Open', 'Runs', 'Deployments', 'Rename…', 'Delete…'];

test('letters in a row are one text, and begin anew after a pause', () => {
  const find = createTypeAhead();
  expect(find('d', NAMES, 0, 0)).toBe(2);
  expect(find('e', NAMES, 2, 100)).toBe(2);
  expect(find('L', NAMES, 2, 200)).toBe(4);
  expect(find('r', NAMES, 4, 300)).toBe(-1);
  expect(find('r', NAMES, 4, 900)).toBe(1);
});

test('the same letter again finds the next name, after the last name the first one', () => {
  const find = createTypeAhead();
  expect(find('r', NAMES, -1, 0)).toBe(1);
  expect(find('r', NAMES, 1, 100)).toBe(3);
  expect(find('R', NAMES, 3, 200)).toBe(1);
});
