import {
  isDriverAdapterError,
  type SqlDriverAdapter,
  type SqlDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import { type Migration, readMigrations } from './migration-files.ts';
import { lockMigrations } from './migration-lock.ts';
import {
  findPending,
  finishOf,
  prepareRecords,
  recordFailure,
  recordStart,
} from './migration-records.ts';
import { applyScript } from './migration-script.ts';

/**
 * Applies all pending migrations in their order. Waits for other processes that migrate. Records each migration in
 * `_prisma_migrations` as Prisma does, so that Prisma's tools read the same history. Safe to interrupt and repeat: each
 * migration is atomic, and recorded in its own transaction. Takes no lock and writes nothing if no migration is pending.
 *
 * @param migrations defaults to the migrations of this version.
 * @returns the names of the applied migrations.
 * @throws Error if a migration fails, with its name and the database's message; StartupError if the file of an applied
 * migration has changed, or if the database has the tables of another program.
 */
export async function applyMigrations(
  adapter: SqlDriverAdapterFactory,
  migrations?: readonly Migration[],
): Promise<string[]> {
  const known = migrations ?? (await readMigrations());
  const connection = await adapter.connect();
  try {
    if ((await findPending(connection, known)).length === 0) return [];
    await using _lock = await lockMigrations(connection);
    await prepareRecords(connection);
    const pending = await findPending(connection, known);
    for (const migration of pending) await apply(connection, migration);
    return pending.map(({ name }) => name);
  } finally {
    await connection.dispose();
  }
}

async function apply(connection: SqlDriverAdapter, migration: Migration): Promise<void> {
  const id = await recordStart(connection, migration);
  try {
    await applyScript(connection, migration.script, finishOf(id));
  } catch (error) {
    const message = messageOf(error);
    // The next start repeats the migration also without this record.
    await recordFailure(connection, id, message).catch(() => {});
    const { name } = migration;
    throw new Error(`the migration ${name} cannot be applied: ${message}`, { cause: error });
  }
}

/** The message of the database, without the one of Prisma around it. */
function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return (isDriverAdapterError(error) && error.cause.originalMessage) || message;
}
