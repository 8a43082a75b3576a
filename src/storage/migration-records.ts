import { randomUUID } from 'node:crypto';
import type { ArgType, SqlQueryable } from '@prisma/driver-adapter-utils';
import { StartupError } from '../errors/errors.ts';
import { checksumOf, hasChecksum, type Migration } from './migration-files.ts';

/** The table as Prisma's schema engine creates it. */
const CREATE_TABLE = `CREATE TABLE "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`;
const FIND_TABLE = "SELECT to_regclass('_prisma_migrations')::text";
const FIND_OTHER_TABLE = `SELECT relname::text FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') LIMIT 1`;

/**
 * Deletes the records of interrupted and failed migrations, so that they are applied again: nothing else is left of
 * them, since each is atomic. A migration that an earlier version applied in part then fails as a whole, because its
 * objects already exist.
 */
const FORGET_UNFINISHED = `DELETE FROM "_prisma_migrations" WHERE finished_at IS NULL AND rolled_back_at IS NULL`;
const FIND_APPLIED = `SELECT migration_name, checksum, finished_at::text FROM "_prisma_migrations"
  WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`;

const TEXT: ArgType = { scalarType: 'string', arity: 'scalar' };

/** Executes one statement. @param args its parameters, all of them texts. */
export async function execute(
  connection: SqlQueryable,
  sql: string,
  args: string[] = [],
): Promise<void> {
  await connection.executeRaw({ sql, args, argTypes: args.map(() => TEXT) });
}

async function query(connection: SqlQueryable, sql: string): Promise<unknown[][]> {
  return (await connection.queryRaw({ sql, args: [], argTypes: [] })).rows;
}

async function hasTable(connection: SqlQueryable): Promise<boolean> {
  return (await query(connection, FIND_TABLE))[0]?.[0] != null;
}

/**
 * Creates the table of the records in an empty database, or deletes the records of unfinished migrations from it.
 *
 * @throws StartupError if the database has tables, but no records.
 */
export async function prepareRecords(connection: SqlQueryable): Promise<void> {
  if (await hasTable(connection)) return execute(connection, FORGET_UNFINISHED);
  const [other] = await query(connection, FIND_OTHER_TABLE);
  if (other)
    throw new StartupError(
      `The database belongs to another program: it has the table ${other[0]}, but no migrations of Parley. Give Parley an empty database.`,
    );
  await execute(connection, CREATE_TABLE);
}

/**
 * Compares the migrations with the records of the finished ones. A database may have more of them, of a later version.
 *
 * @returns the migrations without a record, in their order.
 * @throws StartupError if the file of an applied migration has changed since.
 */
export async function findPending(
  connection: SqlQueryable,
  migrations: readonly Migration[],
): Promise<Migration[]> {
  if (!(await hasTable(connection))) return [...migrations];
  const applied = new Map<unknown, unknown[]>();
  for (const [name, ...record] of await query(connection, FIND_APPLIED)) applied.set(name, record);
  return migrations.filter(({ name, script }) => {
    const record = applied.get(name);
    if (!record) return true;
    const [checksum, finishedAt] = record;
    if (hasChecksum(script, String(checksum))) return false;
    throw new StartupError(
      `The file prisma/migrations/${name}/migration.sql has changed since the database applied it at ${finishedAt}. Restore the file, and write further changes into a new migration.`,
    );
  });
}

/** Records that a migration begins. @returns the id of the record. */
export async function recordStart(
  connection: SqlQueryable,
  { name, script }: Migration,
): Promise<string> {
  const id = randomUUID();
  await execute(
    connection,
    'INSERT INTO "_prisma_migrations" (id, checksum, migration_name) VALUES ($1, $2, $3)',
    [id, checksumOf(script), name],
  );
  return id;
}

/** The statement that records the completion of a migration. @param id a record of `recordStart`. */
export const finishOf = (id: string) => `UPDATE "_prisma_migrations"
  SET finished_at = now(), applied_steps_count = 1 WHERE id = '${id}'`;

/** Records why a migration failed. */
export async function recordFailure(
  connection: SqlQueryable,
  id: string,
  message: string,
): Promise<void> {
  await execute(
    connection,
    'UPDATE "_prisma_migrations" SET logs = $2 WHERE id = $1 AND finished_at IS NULL',
    [id, message],
  );
}
