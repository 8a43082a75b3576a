import { expect, test } from 'vitest';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { deleteBatch } from '../../src/storage/delete-batch.ts';
import { embed } from '../../src/storage/embedded.ts';
import { statement } from '../../src/storage/sql.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { embeddedTemplate } from '../helpers/embedded-template.ts';
import { followTurns } from '../helpers/turns.ts';

const open = async () => {
  const database = await embed({ loadDataDir: await embeddedTemplate() });
  atTheEnd(() => database.close());
  return database;
};

test('the embedded database executes at most one statement in a turn of the event loop', async () => {
  const { prisma, sql } = await open();
  const turns = followTurns();
  const ends: number[] = [];
  const noted = async (result: Promise<unknown>) => {
    await result;
    ends.push(turns());
  };
  const one = statement('SELECT $1::text AS one');
  await noted(sql(one, ['1']));
  await Promise.all([
    ...Array.from({ length: 10 }, () => noted(prisma.$queryRaw`SELECT 1`)),
    ...Array.from({ length: 10 }, () => noted(sql(one, ['1']))),
    prisma.$transaction(async (tx) => {
      for (let count = 0; count < 10; count += 1) await noted(tx.$queryRaw`SELECT 1`);
    }),
  ]);
  expect(new Set(ends).size).toBe(31);
});

test('a failed statement of the embedded database does not keep the next ones waiting', async () => {
  const { prisma } = await open();
  const failed = prisma.$queryRaw`SELECT 1 / 0`;
  const next = prisma.$queryRaw`SELECT 1 AS one`;
  await expect(failed).rejects.toThrow('division by zero');
  await expect(next).resolves.toEqual([{ one: 1 }]);
});

test('a deletion in batches lets other work run after each batch', async () => {
  const { prisma } = await open();
  await prisma.account.create({ data: { id: 'acc', name: 'Tenant', plan: 'FREE' } });
  await prisma.$executeRaw`
    INSERT INTO audit_entries (id, account_id, action, target_id, created_at)
    SELECT number, 'acc', 'CREATE_BOT', 'bot', now() FROM generate_series(1, 5000) AS number`;
  const turns = followTurns();
  const rows = Prisma.sql`account_id = 'acc'`;
  while (await deleteBatch(prisma, Prisma.sql`audit_entries`, rows));
  expect(turns()).toBeGreaterThanOrEqual(10);
  expect(await prisma.auditEntry.count()).toBe(0);
});
