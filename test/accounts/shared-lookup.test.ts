import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createSharedLookup } from '../../src/accounts/shared-lookup.ts';

/** Look-ups of keys of which only "known" has a row, and the keys of each statement. */
function lookups() {
  const statements: string[][] = [];
  const find = createSharedLookup(async (keys) => {
    statements.push(keys);
    return new Map(keys.includes('known') ? [['known', 'row']] : []);
  });
  return { find, statements };
}

describe('look-ups that share statements', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('send the first at once, and one statement in 100 ms for all others', async () => {
    const { find, statements } = lookups();
    await find('a');
    const others = Promise.all(['b', 'known', 'c', 'known'].map(find));
    await vi.advanceTimersByTimeAsync(99);
    expect(statements).toEqual([['a']]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await others).toEqual([undefined, 'row', undefined, 'row']);
    expect(statements).toEqual([['a'], ['b', 'known', 'c']]);
    await vi.advanceTimersByTimeAsync(100);
    await find('d');
    expect(statements).toHaveLength(3);
  });

  test('ask for 1,000 keys at a time', async () => {
    const { find, statements } = lookups();
    await find('first');
    const many = Array.from({ length: 2_500 }, (_, index) => find(String(index)));
    await vi.advanceTimersByTimeAsync(300);
    await Promise.all(many);
    expect(statements.map(({ length }) => length)).toEqual([1, 1_000, 1_000, 500]);
  });

  test('tell each why its statement failed, and go on', async () => {
    let fails = true;
    const find = createSharedLookup(async (keys) => {
      if (fails) throw new Error('gone');
      return new Map(keys.map((key) => [key, 'row']));
    });
    await expect(find('a')).rejects.toThrow('gone');
    fails = false;
    const found = find('a');
    await vi.advanceTimersByTimeAsync(100);
    expect(await found).toBe('row');
  });
});
