import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import type { Migration } from '../../src/storage/migration-files.ts';
import { inTransaction } from '../../src/storage/migration-script.ts';
import { engineMigrations, NO_FILTERS, withEngine } from '../../src/storage/schema-engine.ts';

/** Applies migrations by Prisma's schema engine, as Parley did until version 0.2. @returns the names of the applied ones. */
export async function applyByEngine(
  adapter: SqlDriverAdapterFactory,
  migrations: readonly Migration[],
): Promise<string[]> {
  const migrationsList = engineMigrations(migrations);
  const { appliedMigrationNames } = await withEngine(wholeScripts(adapter), (engine) =>
    engine.applyMigrations({ migrationsList, filters: NO_FILTERS }),
  );
  return appliedMigrationNames;
}

/** What `prisma migrate status` reports of a database. */
export async function diagnose(adapter: SqlDriverAdapterFactory, migrations: readonly Migration[]) {
  const migrationsList = engineMigrations(migrations);
  return withEngine(adapter, (engine) =>
    engine.diagnoseMigrationHistory({
      migrationsList,
      optInToShadowDatabase: false,
      filters: NO_FILTERS,
    }),
  );
}

/** The same adapter, which executes a script as one statement: the adapter of PGlite does not await it otherwise. */
function wholeScripts(adapter: SqlDriverAdapterFactory): SqlDriverAdapterFactory {
  return {
    ...adapter,
    connect: async () => {
      const connection = await adapter.connect();
      const executeScript = async (script: string) => {
        const sql = `DO $engine$ BEGIN EXECUTE $script$${inTransaction(script)}$script$; END $engine$`;
        await connection.executeRaw({ sql, args: [], argTypes: [] });
      };
      return Object.assign(connection, { executeScript });
    },
  };
}
