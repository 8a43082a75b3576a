import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';

/** Rows that one statement deletes, so that a large deletion does not block other transactions. */
const BATCH = 500;

/**
 * Deletes some of the rows that match a condition.
 *
 * @param key the columns that identify a row.
 * @returns whether more rows may remain.
 */
export async function deleteBatch(
  prisma: PrismaClient,
  table: Prisma.Sql,
  rows: Prisma.Sql,
  key = Prisma.sql`id`,
): Promise<boolean> {
  const deleted = await prisma.$executeRaw`
    DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${rows} LIMIT ${BATCH})`;
  return deleted === BATCH;
}
