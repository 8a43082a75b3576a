/**
 * The WebAssembly build of Prisma's schema engine, which works on PGlite without a download. It writes migrations, and
 * the tests compare Parley's records with its own. The server applies migrations without it.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlDriverAdapter,
  type SqlDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import * as engine from '@prisma/schema-engine-wasm/schema_engine_bg';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { type Migration, PRISMA_DIRECTORY, readMigrations } from './migration-files.ts';
import { inTransaction } from './migration-script.ts';

const SCHEMA_FILE = 'schema.prisma';
export const NO_FILTERS = { externalTables: [], externalEnums: [] };

/**
 * Generates the SQL that migrates from the recorded migrations to `prisma/schema.prisma`.
 *
 * @returns the script; empty if there is no difference.
 */
export async function nextMigration(): Promise<string> {
  const adapter = new PrismaPGlite(new PGlite());
  const run = async (schemaEngine: engine.SchemaEngine) => {
    const { stdout } = await schemaEngine.diff({
      from: { tag: 'migrations', ...engineMigrations(await readMigrations()) },
      to: { tag: 'schemaDatamodel', files: [await readSchema()] },
      script: true,
      exitCode: null,
      filters: NO_FILTERS,
    });
    return stdout?.includes('This is an empty migration') ? '' : (stdout ?? '');
  };
  return withEngine(adapter, run, () => connectToShadow(adapter));
}

/** Migrations in the form that the engine takes. */
export function engineMigrations(migrations: readonly Migration[]) {
  return {
    baseDir: fileURLToPath(new URL('migrations/', PRISMA_DIRECTORY)),
    lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"' },
    shadowDbInitScript: '',
    migrationDirectories: migrations.map(({ name, script }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value: script } },
    })),
  };
}

/**
 * Runs work on a schema engine, then closes its connections: an open one would keep Prisma's advisory lock and block
 * the next process.
 */
export async function withEngine<T>(
  adapter: SqlDriverAdapterFactory,
  work: (schemaEngine: engine.SchemaEngine) => Promise<T>,
  shadow: () => Promise<SqlDriverAdapter> = async () => {
    throw new Error('The engine needs no other database to apply migrations.');
  },
): Promise<T> {
  const opened: SqlDriverAdapter[] = [];
  const track = async (connection: Promise<SqlDriverAdapter>) => {
    opened.push(await connection);
    return connection;
  };
  await loadEngine();
  const schema = await readSchema();
  const schemaEngine = await engine.SchemaEngine.new(
    { datamodels: [[schema.path, schema.content]] },
    () => {},
    bindMigrationAwareSqlAdapterFactory({
      provider: adapter.provider,
      adapterName: adapter.adapterName,
      connect: () => track(adapter.connect()),
      connectToShadowDb: () => track(shadow()),
    }),
  );
  try {
    return await work(schemaEngine);
  } finally {
    schemaEngine.free();
    await Promise.all(opened.map((connection) => connection.dispose()));
  }
}

/** Connects to an empty database, in which the engine applies the recorded migrations to compare them with the schema. */
async function connectToShadow(empty: SqlDriverAdapterFactory): Promise<SqlDriverAdapter> {
  const connection = await empty.connect();
  const executeScript = connection.executeScript.bind(connection);
  return Object.assign(connection, {
    executeScript: (script: string) => executeScript(inTransaction(script)),
  });
}

/** Instantiates the engine's WebAssembly module, which its package leaves to a bundler. */
async function loadEngine(): Promise<void> {
  loading ??= (async () => {
    const glue = createRequire(import.meta.url).resolve(
      '@prisma/schema-engine-wasm/schema_engine_bg',
    );
    const binary = await readFile(new URL('schema_engine_bg.wasm', pathToFileURL(glue)));
    const { instance } = await WebAssembly.instantiate(binary, {
      './schema_engine_bg.js': { ...engine },
    });
    engine.__wbg_set_wasm(instance.exports);
    const { __wbindgen_start: start } = instance.exports;
    if (typeof start === 'function') start();
  })();
  return loading;
}

let loading: Promise<void> | undefined;

async function readSchema() {
  return {
    path: SCHEMA_FILE,
    content: await readFile(new URL(SCHEMA_FILE, PRISMA_DIRECTORY), 'utf8'),
  };
}
