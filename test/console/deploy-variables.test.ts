import { describe, expect, test } from 'vitest';
import {
  changesIn,
  type VariableDraft,
  variableFields,
} from '../../src/console/deploy/variable-draft.ts';

const fieldsWith = (draft: Partial<VariableDraft> = {}) =>
  variableFields(['TOKEN', 'URL', 'NEW'], ['TOKEN', 'URL', 'OLD'], {
    values: {},
    removed: [],
    ...draft,
  });
const statesOf = (draft?: Partial<VariableDraft>) =>
  Object.fromEntries(fieldsWith(draft).map(({ name, state }) => [name, state]));

describe('the variables of a deploy', () => {
  test('are unset, unused or carried over as long as nothing is typed', () => {
    expect(statesOf()).toEqual({
      NEW: 'unset',
      OLD: 'unused',
      TOKEN: 'carried over',
      URL: 'carried over',
    });
    expect(changesIn(fieldsWith())).toEqual({ set: [], unset: [] });
  });

  test('are added, changed or removed by the typed values', () => {
    const draft = { values: { NEW: '1', TOKEN: '2' }, removed: ['OLD'] };
    expect(statesOf(draft)).toEqual({
      NEW: 'added',
      OLD: 'removed',
      TOKEN: 'changed',
      URL: 'carried over',
    });
    expect(changesIn(fieldsWith(draft))).toEqual({ set: ['NEW', 'TOKEN'], unset: ['OLD'] });
  });

  test('send no value that was typed for a variable which the definition lost', () => {
    const fields = variableFields(['URL'], [], {
      values: { GONE: 'secret', URL: '1' },
      removed: [],
    });
    expect(changesIn(fields)).toEqual({ set: ['URL'], unset: [] });
  });

  test('do not remove a variable that no longer runs', () => {
    const fields = variableFields(['TOKEN'], [], { values: {}, removed: ['TOKEN'] });
    expect(changesIn(fields)).toEqual({ set: [], unset: [] });
  });
});
