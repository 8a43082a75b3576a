import { expect, inject, test } from 'vitest';
import { testDatabase } from '../helpers/database.ts';

test.skipIf(!inject('databaseUrl'))('PostgreSQL ends a statement after 30 seconds', async () => {
  const { prisma } = await testDatabase();
  const [row] = await prisma.$queryRaw<object[]>`SHOW statement_timeout`;
  expect(row).toEqual({ statement_timeout: '30s' });
});
