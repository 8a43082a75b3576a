import { describe, expect, test } from 'vitest';
import { changesBetween } from '../../../src/console/diff/variables.ts';

describe('the changes of variables', () => {
  test('between two deployments count a value that was sent again as changed', () => {
    expect(changesBetween(['A', 'B', 'C'], ['D', 'B', 'A'], ['D', 'A'])).toEqual({
      added: ['D'],
      changed: ['A'],
      removed: ['C'],
      kept: ['B'],
    });
  });
});
