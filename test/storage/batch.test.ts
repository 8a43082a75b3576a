import { describe, expect, test } from 'vitest';
import { createBatch } from '../../src/storage/batch.ts';
import type { Sql } from '../../src/storage/sql.ts';
import { cutError } from '../helpers/lossy-database.ts';

type Entry = { key: string; isBad?: boolean; text?: string };

/** A database that answers when the test says so. */
function database() {
  const asked: { keys: string[]; answer: () => void; lose: () => void }[] = [];
  const sql: Sql = (_statement, [json]) =>
    new Promise((resolve, reject) => {
      const entries = JSON.parse(String(json)) as Entry[];
      const answer = () =>
        entries.some(({ isBad }) => isBad)
          ? reject(new Error('Bad.'))
          : resolve(entries.map(({ key }) => ({ key })) as never);
      asked.push({ keys: entries.map(({ key }) => key), answer, lose: () => reject(cutError()) });
    });
  const batch = createBatch<Omit<Entry, 'key'>, Entry>(sql, { name: '', text: '' });
  return { asked, batch };
}

describe('a batch', () => {
  test('has what is asked in one moment, and the next one what comes while it is under way', async () => {
    const { asked, batch } = database();
    const first = Promise.all([batch('a', {}), batch('b', {})]);
    await expect.poll(() => asked.map(({ keys }) => keys)).toEqual([['a', 'b']]);
    const second = Promise.all([batch('c', {}), batch('d', {})]);
    asked[0]?.answer();
    expect(await first).toEqual([[{ key: 'a' }], [{ key: 'b' }]]);
    expect(asked[1]?.keys).toEqual(['c', 'd']);
    asked[1]?.answer();
    expect(await second).toEqual([[{ key: 'c' }], [{ key: 'd' }]]);
  });

  test('goes in the order of its keys, so that those who lock the same rows do so in one order', async () => {
    const { asked, batch } = database();
    const answers = Promise.all([batch('c', {}), batch('a', {}), batch('b', {})]);
    await expect.poll(() => asked.map(({ keys }) => keys)).toEqual([['a', 'b', 'c']]);
    asked[0]?.answer();
    expect(await answers).toEqual([[{ key: 'c' }], [{ key: 'a' }], [{ key: 'b' }]]);
  });

  test('that takes long holds up nothing else', async () => {
    const { asked, batch } = database();
    const held = batch('a', {});
    const next = batch('b', {}).then(() => 'b');
    await expect.poll(() => asked.length).toBe(1);
    const after = batch('c', {});
    await expect.poll(() => asked.length).toBe(2);
    asked[1]?.answer();
    expect(await after).toEqual([{ key: 'c' }]);
    asked[0]?.answer();
    expect(await held).toEqual([{ key: 'a' }]);
    expect(await next).toBe('b');
  });

  test('of large entries holds up no small ones, however many wait', async () => {
    const { asked, batch } = database();
    const text = 'x'.repeat(600 * 1024);
    const large = Array.from({ length: 20 }, (_, index) => batch(`large ${index}`, { text }));
    await expect.poll(() => asked.length).toBe(2);
    const small = batch('small', {});
    await expect.poll(() => asked.at(-1)?.keys).toEqual(['small']);
    expect(asked).toHaveLength(3);
    asked[2]?.answer();
    expect(await small).toEqual([{ key: 'small' }]);
    for (let index = 0; index < 21; index += 1) {
      await expect.poll(() => asked.length).toBeGreaterThan(index);
      asked[index]?.answer();
    }
    expect(await Promise.all(large)).toHaveLength(20);
  });

  test('that fails is done again one by one, and harms only what is wrong', async () => {
    const { asked, batch } = database();
    const good = batch('a', {});
    const bad = batch('b', { isBad: true });
    await expect.poll(() => asked.length).toBe(1);
    asked[0]?.answer();
    await expect.poll(() => asked.length).toBe(3);
    for (const { answer } of asked.slice(1)) answer();
    expect(await good).toEqual([{ key: 'a' }]);
    await expect(bad).rejects.toThrow('Bad.');
  });

  test('of one is done again where its answer is lost, and not where it is wrong', async () => {
    const { asked, batch } = database();
    const lost = batch('a', {});
    for (const tries of [1, 2, 3]) {
      await expect.poll(() => asked.length).toBe(tries);
      if (tries < 3) asked.at(-1)?.lose();
    }
    asked.at(-1)?.answer();
    expect(await lost).toEqual([{ key: 'a' }]);
    const bad = batch('b', { isBad: true });
    await expect.poll(() => asked.length).toBe(4);
    asked.at(-1)?.answer();
    await expect(bad).rejects.toThrow('Bad.');
    expect(asked).toHaveLength(4);
  });
});
