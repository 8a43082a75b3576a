import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils';
import { execute } from './migration-records.ts';

/** The name of the adapter of PostgreSQL, see `@prisma/adapter-pg`. */
export const POSTGRES_ADAPTER = '@prisma/adapter-pg';
const CONCURRENT_INDEX = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY "(\w+)" /;
/** The longest wait of a migration for a locked table. */
export const TABLE_LOCK_MS = 60_000;

/**
 * Applies one migration. On PostgreSQL, a migration whose statements all create indexes concurrently runs statement by
 * statement, so that old processes can write meanwhile. It is safe to interrupt too: it first drops the indexes that an
 * earlier attempt created. The embedded database has no other process, so there it is one transaction as well.
 *
 * @param finish the statement that records the completion.
 */
export async function applyScript(
  connection: SqlDriverAdapter,
  script: string,
  finish: string,
): Promise<void> {
  const statements = script.split(/;\s*$/m).map((statement) => statement.trim());
  const indexes = statements.filter((statement) => statement !== '');
  const names = indexes.map((statement) => CONCURRENT_INDEX.exec(statement)?.[1]);
  if (connection.adapterName !== POSTGRES_ADAPTER || names.some((name) => name === undefined)) {
    await execute(connection, wholeMigration(inTransaction(script), finish));
    return;
  }
  for (const [position, statement] of indexes.entries()) {
    await execute(connection, `DROP INDEX IF EXISTS "${names[position]}"`);
    await execute(connection, statement);
  }
  await execute(connection, finish);
}

/** Replaces what PostgreSQL refuses in a transaction. */
export function inTransaction(script: string): string {
  return script.replaceAll('INDEX CONCURRENTLY', 'INDEX');
}

/**
 * Wraps a migration so that it and the record of its completion commit in one statement: a process may die between two
 * of them. Also, the adapters execute only one statement at a time.
 */
function wholeMigration(script: string, finish: string): string {
  return `DO $parley$ BEGIN
    SET LOCAL lock_timeout = ${TABLE_LOCK_MS};
    EXECUTE $migration$${script}$migration$;
    ${finish};
  END $parley$`;
}
