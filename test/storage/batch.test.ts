import { describe, expect, test } from 'vitest';
import { createBatch } from '../../src/storage/batch.ts';
import type { Sql } from '../../src/storage/sql.ts';
import { cutError } from '../helpers/lossy-database.ts';

type Entry = { key: string; isBad?: boolean; text?: string };

/** A database that responds when the test calls `answer`. */
function database() {
  const statements: { keys: string[]; answer: () => void; lose: () => void }[] = [];
  const sql: Sql = (_statement, [json]) =>
    new Promise((resolve, reject) => {
      const entries = JSON.parse(String(json)) as Entry[];
      const answer = () =>
        entries.some(({ isBad }) => isBad)
          ? reject(new Error('Bad.'))
          : resolve(entries.map(({ key }) => ({ key })) as never);
      statements.push({
        keys: entries.map(({ key }) => key),
        answer,
        lose: () => reject(cutError()),
      });
    });
  const batch = createBatch<Omit<Entry, 'key'>, Entry>(sql, { name: '', text: '' });
  return { statements, batch };
}

describe('a batch', () => {
  test('contains simultaneous entries, and the next batch the entries that arrive meanwhile', async () => {
    const { statements, batch } = database();
    const first = Promise.all([batch('a', {}), batch('b', {})]);
    await expect.poll(() => statements.map(({ keys }) => keys)).toEqual([['a', 'b']]);
    const second = Promise.all([batch('c', {}), batch('d', {})]);
    statements[0]?.answer();
    expect(await first).toEqual([[{ key: 'a' }], [{ key: 'b' }]]);
    expect(statements[1]?.keys).toEqual(['c', 'd']);
    statements[1]?.answer();
    expect(await second).toEqual([[{ key: 'c' }], [{ key: 'd' }]]);
  });

  test('is sorted by key, so that all statements lock rows in the same order', async () => {
    const { statements, batch } = database();
    const answers = Promise.all([batch('c', {}), batch('a', {}), batch('b', {})]);
    await expect.poll(() => statements.map(({ keys }) => keys)).toEqual([['a', 'b', 'c']]);
    statements[0]?.answer();
    expect(await answers).toEqual([[{ key: 'c' }], [{ key: 'a' }], [{ key: 'b' }]]);
  });

  test('that takes long does not block other entries', async () => {
    const { statements, batch } = database();
    const held = batch('a', {});
    const next = batch('b', {}).then(() => 'b');
    await expect.poll(() => statements.length).toBe(1);
    const after = batch('c', {});
    await expect.poll(() => statements.length).toBe(2);
    statements[1]?.answer();
    expect(await after).toEqual([{ key: 'c' }]);
    statements[0]?.answer();
    expect(await held).toEqual([{ key: 'a' }]);
    expect(await next).toBe('b');
  });

  test('of large entries does not block small ones', async () => {
    const { statements, batch } = database();
    const text = 'x'.repeat(600 * 1024);
    const large = Array.from({ length: 20 }, (_, index) => batch(`large ${index}`, { text }));
    await expect.poll(() => statements.length).toBe(2);
    const small = batch('small', {});
    await expect.poll(() => statements.at(-1)?.keys).toEqual(['small']);
    expect(statements).toHaveLength(3);
    statements[2]?.answer();
    expect(await small).toEqual([{ key: 'small' }]);
    for (let index = 0; index < 21; index += 1) {
      await expect.poll(() => statements.length).toBeGreaterThan(index);
      statements[index]?.answer();
    }
    expect(await Promise.all(large)).toHaveLength(20);
  });

  test('that fails is repeated entry by entry, so that only the bad entry fails', async () => {
    const { statements, batch } = database();
    const good = batch('a', {});
    const bad = batch('b', { isBad: true });
    await expect.poll(() => statements.length).toBe(1);
    statements[0]?.answer();
    await expect.poll(() => statements.length).toBe(3);
    for (const { answer } of statements.slice(1)) answer();
    expect(await good).toEqual([{ key: 'a' }]);
    await expect(bad).rejects.toThrow('Bad.');
  });

  test('of one entry is repeated if its response is lost, but not if it fails', async () => {
    const { statements, batch } = database();
    const lost = batch('a', {});
    for (const attempt of [1, 2, 3]) {
      await expect.poll(() => statements.length).toBe(attempt);
      if (attempt < 3) statements.at(-1)?.lose();
    }
    statements.at(-1)?.answer();
    expect(await lost).toEqual([{ key: 'a' }]);
    const bad = batch('b', { isBad: true });
    await expect.poll(() => statements.length).toBe(4);
    statements.at(-1)?.answer();
    await expect(bad).rejects.toThrow('Bad.');
    expect(statements).toHaveLength(4);
  });
});
