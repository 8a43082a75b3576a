import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createKeyLookups } from '../../src/accounts/key-lookup.ts';

/** Lookups of keys, of which only "known" has a row, and the keys of each statement. */
function lookups() {
  const statements: string[][] = [];
  const single: string[] = [];
  const answered = Promise.withResolvers<void>();
  let now = 0;
  const find = createKeyLookups(() => now)<string>({
    isValid: (row) => row === 'row',
    async findOne(key) {
      single.push(key);
      await answered.promise;
      if (key === 'ended') return 'ended row';
      return key === 'known' ? 'row' : null;
    },
    async findMany(keys) {
      statements.push(keys);
      return new Map(keys.includes('known') ? [['known', 'row']] : []);
    },
  });
  const findFrom = (isSpent: boolean) => (key: string) =>
    find(key, { address: '192.0.2.1', isSpent });
  const nextMinute = () => {
    now += 60_000;
  };
  return {
    find: findFrom(true),
    findUnspent: findFrom(false),
    nextMinute,
    single,
    statements,
    answered,
  };
}

describe('key lookups from an address over its limit', () => {
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

  test('look up 1,000 keys in one statement', async () => {
    const { find, statements } = lookups();
    await find('first');
    const many = Array.from({ length: 2_500 }, (_, index) => find(String(index)));
    await vi.advanceTimersByTimeAsync(300);
    await Promise.all(many);
    expect(statements.map(({ length }) => length)).toEqual([1, 1_000, 1_000, 500]);
  });

  test('reject with the error of their statement, and continue', async () => {
    let fails = true;
    const find = createKeyLookups()<string>({
      findOne: async () => null,
      async findMany(keys) {
        if (fails) throw new Error('gone');
        return new Map(keys.map((key) => [key, 'row']));
      },
    });
    const origin = { address: '192.0.2.1', isSpent: true };
    await expect(find('a', origin)).rejects.toThrow('gone');
    fails = false;
    const found = find('a', origin);
    await vi.advanceTimersByTimeAsync(100);
    expect(await found).toBe('row');
  });

  test('are limited before the address is known to be over its limit', async () => {
    const { findUnspent, single, statements, answered } = lookups();
    const found = Array.from({ length: 100 }, (_, index) => findUnspent(String(index)));
    found.push(findUnspent('known'));
    await vi.advanceTimersByTimeAsync(200);
    expect(single).toHaveLength(30);
    expect(statements.map(({ length }) => length)).toEqual([1, 70]);
    answered.resolve();
    expect((await Promise.all(found)).filter(Boolean)).toEqual(['row']);
    expect(single).toHaveLength(30);
  });

  test('that fail are unbatched 30 times a minute, also for credentials that have ended', async () => {
    const { findUnspent, nextMinute, single, answered } = lookups();
    answered.resolve();
    for (let count = 0; count < 100; count += 1) await findUnspent('known');
    for (let count = 0; count < 15; count += 1) {
      expect(await findUnspent(`unknown ${count}`)).toBeUndefined();
      expect(await findUnspent('ended')).toBe('ended row');
    }
    expect(single).toHaveLength(130);
    const found = findUnspent('known');
    await vi.advanceTimersByTimeAsync(100);
    expect([await found, single.length]).toEqual(['row', 130]);
    nextMinute();
    expect([await findUnspent('known'), single.length]).toEqual(['row', 131]);
  });

  test('of all kinds share 10 statements a second, in turn', async () => {
    const sent: string[] = [];
    const lookUps = createKeyLookups();
    const kind = (name: string, count: number) =>
      lookUps<string>({
        statements: count,
        findOne: async () => null,
        async findMany() {
          for (let statement = 0; statement < count; statement += 1) sent.push(name);
          return new Map();
        },
      });
    const kinds = [kind('key', 2), kind('cookie', 1), kind('bot', 4)];
    const origin = { address: '192.0.2.1', isSpent: true };
    let seconds = 0;
    const guess = () => {
      for (const find of kinds)
        for (const key of ['a', 'b']) void find(`${key}${sent.length}`, origin);
    };
    guess();
    while (seconds < 7) {
      for (let tick = 0; tick < 10; tick += 1) {
        guess();
        await vi.advanceTimersByTimeAsync(100);
      }
      seconds += 1;
    }
    expect(sent.length).toBeGreaterThan(60);
    expect(sent.length).toBeLessThanOrEqual(70 + 4);
    expect(sent.filter((name) => name === 'cookie')).toHaveLength(10);
  });
});
