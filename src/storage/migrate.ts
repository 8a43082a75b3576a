import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import { readMigrations } from './migration-files.ts';

/**
 * Applies all pending migrations. Waits for other processes that migrate. Records each migration in
 * `_prisma_migrations`. Safe to interrupt and repeat: each migration is atomic. The schema engine is loaded only if a
 * migration is pending, because it takes most of the time of a start.
 *
 * @returns the names of the applied migrations.
 * @throws Error if a migration fails, with its name and the database's message.
 */
export async function applyMigrations(adapter: SqlDriverAdapterFactory): Promise<string[]> {
  const migrations = await readMigrations();
  const applied = await appliedMigrations(adapter);
  if (migrations.migrationDirectories.every(({ path }) => applied.has(path))) return [];
  const { applyPending } = await import('./schema-engine.ts');
  return applyPending(adapter, migrations);
}

/** The names of the migrations that are recorded as finished. A migration and its record commit together. */
async function appliedMigrations(adapter: SqlDriverAdapterFactory): Promise<Set<unknown>> {
  const connection = await adapter.connect();
  const names = async (sql: string) => {
    const { rows } = await connection.queryRaw({ sql, args: [], argTypes: [] });
    return rows.map(([name]) => name);
  };
  try {
    const [table] = await names("SELECT to_regclass('_prisma_migrations')::text");
    if (table == null) return new Set();
    return new Set(
      await names(`SELECT migration_name FROM "_prisma_migrations"
        WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`),
    );
  } finally {
    await connection.dispose();
  }
}
