import { describe, expect, test } from 'vitest';
import { changesBetween, plannedChanges } from '../../../src/console/diff/variables.ts';

describe('the changes of variables', () => {
  test('of a planned deploy are added, changed, removed and kept, by name', () => {
    const changes = plannedChanges(['TOKEN', 'OLD', 'URL'], {
      set: ['TOKEN', 'NEW'],
      unset: ['OLD'],
    });
    expect(changes).toEqual({
      added: ['NEW'],
      changed: ['TOKEN'],
      removed: ['OLD'],
      kept: ['URL'],
    });
  });

  test('ignore a removal of a variable that does not exist', () => {
    expect(plannedChanges([], { set: [], unset: ['GONE'] })).toEqual({
      added: [],
      changed: [],
      removed: [],
      kept: [],
    });
  });

  test('between two deployments count a value that was sent again as changed', () => {
    expect(changesBetween(['A', 'B', 'C'], ['D', 'B', 'A'], ['D', 'A'])).toEqual({
      added: ['D'],
      changed: ['A'],
      removed: ['C'],
      kept: ['B'],
    });
  });
});
