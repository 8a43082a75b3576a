import { Prisma } from '../generated/prisma/client.ts';

/** Nothing was made before 1970, nor will be after this: far enough, and such as PostgreSQL knows. */
const LAST_MOMENT = Date.UTC(9999, 11, 31);

/**
 * A moment in SQL, whatever the time zone of the connection.
 *
 * @param at in milliseconds since 1970.
 */
export function moment(at: number): Prisma.Sql {
  const known = new Date(Math.min(Math.max(at, 0), LAST_MOMENT));
  return Prisma.sql`${known.toISOString()}::timestamptz`;
}
