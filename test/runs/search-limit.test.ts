import { expect, test } from 'vitest';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { limitedReader } from '../../src/runs/search-limit.ts';

const ONE = Prisma.sql`SELECT 1`;

test('a search starts no statement after 2 seconds', async () => {
  let now = 5_000;
  let statements = 0;
  const query = async <Rows>(): Promise<Rows> => {
    statements += 1;
    throw new Error('no database');
  };
  const reader = limitedReader({ query }, () => now);
  now = 6_999;
  await expect(reader.$queryRaw(ONE)).rejects.toThrow('no database');
  now = 7_000;
  await expect(reader.$queryRaw(ONE)).rejects.toMatchObject({ code: 'search_too_broad' });
  expect(statements).toBe(1);
});
