import { expect, test } from 'vitest';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { limitedReader } from '../../../src/runs/search/search-limit.ts';

const ONE = Prisma.sql`SELECT 1`;

test('the statements of a search may take 2 seconds together', async () => {
  let now = 5_000;
  const limits: number[] = [];
  const query = async <Rows>(_statement: unknown, limitMs: number): Promise<Rows> => {
    limits.push(limitMs);
    throw new Error('no database');
  };
  const reader = limitedReader({ query }, () => now);
  for (now of [5_500, 6_999]) {
    await expect(reader.$queryRaw(ONE)).rejects.toThrow('no database');
  }
  now = 6_000;
  await expect(reader.within(300).$queryRaw(ONE)).rejects.toThrow('no database');
  now = 6_999;
  await expect(reader.within(300).$queryRaw(ONE)).rejects.toThrow('no database');
  now = 7_000;
  await expect(reader.$queryRaw(ONE)).rejects.toMatchObject({ code: 'search_too_broad' });
  expect(limits).toEqual([1_500, 1, 300, 1]);
});
