import { Prisma } from '../generated/prisma/client.ts';
import type { QueryRaw } from './lists.ts';

/**
 * Bytes that one statement measures, besides its last row. To measure JSON, the database writes it as text: 2 MiB take the
 * embedded database 35 ms, in the thread of the server.
 */
const SLICE_BYTES = 2 * 1024 * 1024;
/** Rows that one statement measures. */
const SLICE_ROWS = 500;

/** Rows to measure, in this order. */
export type Measured = {
  table: Prisma.Sql;
  ids: string[];
  /**
   * SQL for the bytes of the row with an id, from the columns of the table. It may take the value for the row from an array
   * by `valueAt`.
   */
  bytes: Prisma.Sql;
};

/** SQL for the value of an array for the row that is measured. */
export function valueAt(values: number[]): Prisma.Sql {
  return Prisma.sql`(${values}::float8[])[measured.place + 1]`;
}

/**
 * A recursive query `measured` for the head of a statement. Its rows are a start of the ids with their `place`, from 1,
 * their `bytes`, 0 for a row that does not exist, and the `total` up to them. Row 0 is none of them.
 */
export function measuredRows({ table, ids, bytes }: Measured): Prisma.Sql {
  const slice = ids.slice(0, SLICE_ROWS);
  // Without `OFFSET`, PostgreSQL would compute the bytes once for each use.
  return Prisma.sql`RECURSIVE measured AS (
    SELECT 0 AS place, 0::float8 AS bytes, 0::float8 AS total
    UNION ALL
    SELECT place + 1, one.bytes, total + one.bytes FROM measured CROSS JOIN LATERAL (
      SELECT COALESCE(
        (SELECT ${bytes} FROM ${table} WHERE id = (${slice}::text[])[measured.place + 1]), 0
      )::float8 AS bytes OFFSET 0
    ) AS one
    WHERE place < ${slice.length}::int AND total < ${SLICE_BYTES}::float8
  )`;
}

/** Measures rows. @returns the bytes of a start of them, of at least one. */
export async function measureRows(prisma: QueryRaw, rows: Measured): Promise<number[]> {
  const found = await prisma.$queryRaw<{ bytes: number }[]>(
    Prisma.sql`WITH ${measuredRows(rows)} SELECT bytes FROM measured WHERE place > 0 ORDER BY place`,
  );
  return found.map(({ bytes }) => bytes);
}
