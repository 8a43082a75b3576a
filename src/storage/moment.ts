import { StartupError } from '../errors/errors.ts';
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

/** Any time with every part. */
const PROBE = new Date('2026-08-09T10:11:12.345Z');

/**
 * Compares a time that the server reads with the one that was sent, and the other way round: with another time zone than UTC
 * they differ.
 *
 * @throws StartupError if they differ.
 */
export async function assertExactTimes(prisma: Pick<PrismaClient, '$queryRaw'>): Promise<void> {
  const [row] = await prisma.$queryRaw<{ stored: number; returned: Date }[]>`
    SELECT round(extract(epoch FROM ${PROBE}::timestamptz) * 1000)::float8 AS stored,
      ${PROBE.toISOString()}::timestamptz AS returned`;
  if (row?.stored === PROBE.getTime() && row.returned.getTime() === PROBE.getTime()) return;
  throw new StartupError(
    "DATABASE_URL: times would be stored wrong, because a pooler keeps another time zone than UTC. Execute ALTER ROLE … SET TimeZone = 'UTC' for Parley's role, and restart the pooler.",
  );
}
