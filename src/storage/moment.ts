import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';

/** Times are clamped to the range from 1970 to this: it contains every row, and PostgreSQL accepts it. */
const LAST_MOMENT = Date.UTC(9999, 11, 31);

/**
 * A point in time as SQL, independent of the connection's time zone.
 *
 * @param at in milliseconds since 1970.
 */
export function moment(at: number): Prisma.Sql {
  const known = new Date(Math.min(Math.max(at, 0), LAST_MOMENT));
  return Prisma.sql`${known.toISOString()}::timestamptz`;
}

/**
 * The database's current time as SQL, rounded to milliseconds as columns round it. A row that stores `now()` may be up to half a
 * millisecond ahead of `now()`, but not of this.
 */
export const STORED_NOW = Prisma.sql`now()::timestamptz(3)`;

/** The database's current time, in milliseconds since 1970. The clocks of the processes may differ. */
export async function databaseTime(prisma: Pick<PrismaClient, '$queryRaw'>): Promise<number> {
  const [row] = await prisma.$queryRaw<{ now: Date }[]>`SELECT clock_timestamp() AS now`;
  if (!row) throw new Error('The database returned no time.');
  return row.now.getTime();
}
