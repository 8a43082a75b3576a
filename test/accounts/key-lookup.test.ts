import { LRUCache } from 'lru-cache';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createKeyLookups, fetchByLookup, type KeyOrigin } from '../../src/accounts/key-lookup.ts';

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
  const findFrom =
    (address: string, isSpent = true) =>
    (key: string) =>
      find(key, { address, isSpent });
  const nextMinute = () => {
    now += 60_000;
  };
  return {
    findFrom,
    find: findFrom('192.0.2.1'),
    findUnspent: findFrom('192.0.2.1', false),
    nextMinute,
    single,
    statements,
    answered,
  };
}

describe('key lookups from an address over its limit', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
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
    const { find, findFrom, statements } = lookups();
    await find('first');
    const many = Array.from({ length: 2_500 }, (_, index) =>
      findFrom(`192.0.2.${Math.floor(index / 1_000)}`)(String(index)),
    );
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

describe('batched key lookups that wait', () => {
  const overloaded = expect.objectContaining({ code: 'rate_limit_exceeded', retryAfter: 1 });
  const spent = (address: string): KeyOrigin => ({ address, isSpent: true });
  const addresses = (count: number) => Array.from({ length: count }, (_, at) => `192.0.2.${at}`);
  const kindThat = (findMany: (keys: string[]) => Promise<Map<string, string>>) => ({
    findOne: async () => null,
    findMany,
  });
  const neverAnswers = kindThat(() => Promise.withResolvers<Map<string, string>>().promise);
  const findsAll = kindThat(async (keys) => new Map(keys.map((key) => [key, 'row'])));
  /** Starts a look-up whose error is only read later. */
  const started = <Row>(found: Promise<Row>) => {
    found.catch(() => {});
    return found;
  };

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('are at most 1,000 for one address, and the lookups of another address still find their rows', async () => {
    const find = createKeyLookups()<string>(findsAll);
    const origin = spent('192.0.2.1');
    const waiting = Array.from({ length: 1_000 }, (_, at) => find(`${at}`, origin));
    await expect(find('one more', origin)).rejects.toEqual(overloaded);
    const other = find('other', spent('192.0.2.2'));
    await vi.advanceTimersByTimeAsync(200);
    expect(await other).toBe('row');
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['row']));
    const next = find('one more', origin);
    await vi.advanceTimersByTimeAsync(100);
    expect(await next).toBe('row');
  });

  test('are at most 10,000 of one kind, and the lookups of another kind still find their rows', async () => {
    const lookUps = createKeyLookups();
    const find = lookUps<string>(neverAnswers);
    const other = lookUps<string>(findsAll);
    for (const address of addresses(10))
      for (let at = 0; at < 1_000; at += 1) started(find(`${address} ${at}`, spent(address)));
    await expect(find('one more', spent('192.0.2.99'))).rejects.toEqual(overloaded);
    const found = other('one more', spent('192.0.2.99'));
    await vi.advanceTimersByTimeAsync(200);
    expect(await found).toBe('row');
  });

  test('end after 5 seconds, and no statement looks up what nobody waits for', async () => {
    const statements: string[][] = [];
    const find = createKeyLookups()<string>({
      ...kindThat((keys) => {
        statements.push(keys);
        return neverAnswers.findMany(keys);
      }),
      // The second batch is sent after the limit.
      statements: 60,
    });
    const waiting = ['first', 'second'].map((key) => started(find(key, spent('192.0.2.1'))));
    await vi.advanceTimersByTimeAsync(4_999);
    const late = started(find('third', spent('192.0.2.2')));
    await vi.advanceTimersByTimeAsync(1);
    for (const found of waiting) await expect(found).rejects.toEqual(overloaded);
    await vi.advanceTimersByTimeAsync(4_999);
    await expect(late).rejects.toEqual(overloaded);
    expect(statements).toEqual([['first'], ['third']]);
  });

  test('that share a look-up do not fail because of the address that began it', async () => {
    const find = createKeyLookups()<string>(findsAll);
    const cache = new LRUCache<string, string, KeyOrigin>({
      max: 10,
      fetchMethod: (key, _stale, { context }) => find(key, context),
    });
    const [busy = '', quiet = ''] = addresses(2);
    for (let at = 0; at < 1_000; at += 1) started(find(`${at}`, spent(busy)));
    const refused = started(fetchByLookup(cache, 'key', spent(busy)));
    const shared = fetchByLookup(cache, 'key', spent(quiet));
    await expect(refused).rejects.toEqual(overloaded);
    await vi.advanceTimersByTimeAsync(200);
    expect(await shared).toBe('row');
  });
});
