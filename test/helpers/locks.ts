import { expect } from 'vitest';
import type { Prisma, PrismaClient } from '../../src/generated/prisma/client.ts';
import { atTheEnd } from './at-the-end.ts';

/** Opens a transaction and keeps the locks that `take` acquires. @returns a function that commits it. */
export async function hold(
  prisma: PrismaClient,
  take: (tx: Prisma.TransactionClient) => Promise<unknown>,
): Promise<() => Promise<void>> {
  const taken = Promise.withResolvers<void>();
  const free = Promise.withResolvers<void>();
  const holding = prisma.$transaction(
    async (tx) => {
      // The test decides how long the transaction stays open.
      await tx.$executeRaw`SET LOCAL idle_in_transaction_session_timeout = 0`;
      await take(tx);
      taken.resolve();
      await free.promise;
    },
    { maxWait: 300_000, timeout: 300_000 },
  );
  await Promise.race([taken.promise, holding]);
  return async () => {
    free.resolve();
    await holding;
  };
}

/** Waits until this number of statements wait for locks in the database. */
export async function untilWaiting(prisma: PrismaClient, statements: number): Promise<void> {
  const waiting = async () => {
    const [row] = await prisma.$queryRaw<{ count: number }[]>`
      SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return row?.count;
  };
  await expect.poll(waiting).toBe(statements);
}

const LOCK = 4_711;

/** Blocks PostgreSQL statements before they change a row, to simulate slow ones. @returns a function that unblocks them. */
export async function holdUp(
  prisma: PrismaClient,
  { before, of, id }: { before: 'UPDATE' | 'DELETE'; of: string; id: string },
): Promise<() => Promise<void>> {
  const row = before === 'UPDATE' ? 'NEW' : 'OLD';
  await prisma.$executeRawUnsafe(`CREATE OR REPLACE FUNCTION hold_up() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_advisory_xact_lock_shared(${LOCK}); RETURN ${row}; END $$`);
  await prisma.$executeRawUnsafe(`CREATE TRIGGER hold_up BEFORE ${before} ON ${of} FOR EACH ROW
    WHEN (OLD.id = '${id}') EXECUTE FUNCTION hold_up()`);
  atTheEnd(() => prisma.$executeRawUnsafe('DROP FUNCTION IF EXISTS hold_up CASCADE'));
  return hold(prisma, (tx) => tx.$executeRawUnsafe(`SELECT pg_advisory_xact_lock(${LOCK})`));
}
