import { readdir, readFile } from 'node:fs/promises';
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

const PRISMA_DIRECTORY = new URL('../../prisma/', import.meta.url);
const SCHEMA_FILE = 'schema.prisma';
const NO_FILTERS = { externalTables: [], externalEnums: [] };

/**
 * Brings a database to the present schema with Prisma's own schema engine, in its WebAssembly form: the same
 * on PostgreSQL and PGlite, without a download. Takes Prisma's advisory lock, records itself in
 * `_prisma_migrations`, and does nothing where nothing is to be done.
 *
 * @returns the names of the migrations that were applied.
 */
export async function applyMigrations(adapter: SqlDriverAdapterFactory): Promise<string[]> {
  return withEngine(adapter, async (schemaEngine) => {
    const { appliedMigrationNames } = await schemaEngine.applyMigrations({
      migrationsList: await readMigrations(),
      filters: NO_FILTERS,
    });
    return appliedMigrationNames;
  });
}

/**
 * Writes the SQL that leads from the recorded migrations to `prisma/schema.prisma`.
 *
 * @returns the script; an empty text when the two agree.
 */
export async function nextMigration(): Promise<string> {
  const adapter = new PrismaPGlite(new PGlite());
  return withEngine(adapter, async (schemaEngine) => {
    const { stdout } = await schemaEngine.diff({
      from: { tag: 'migrations', ...(await readMigrations()) },
      to: { tag: 'schemaDatamodel', files: [await readSchema()] },
      script: true,
      exitCode: null,
      filters: NO_FILTERS,
    });
    return stdout?.includes('This is an empty migration') ? '' : (stdout ?? '');
  });
}

/**
 * Runs one piece of work on a schema engine. The engine's connections are closed at the end: one left open
 * keeps Prisma's advisory lock, and the next process would wait for it.
 */
async function withEngine<T>(
  adapter: SqlDriverAdapterFactory,
  work: (schemaEngine: engine.SchemaEngine) => Promise<T>,
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
      connectToShadowDb: () => track(new PrismaPGlite(new PGlite()).connect()),
    }),
  );
  try {
    return await work(schemaEngine);
  } finally {
    schemaEngine.free();
    await Promise.all(opened.map((connection) => connection.dispose()));
  }
}

/** Instantiates the engine's WebAssembly by hand: its package expects a bundler to do so. */
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

async function readMigrations() {
  const directory = new URL('migrations/', PRISMA_DIRECTORY);
  const read = (path: string) => readFile(new URL(path, directory), 'utf8');
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return {
    baseDir: fileURLToPath(directory),
    lockfile: { path: 'migration_lock.toml', content: await read('migration_lock.toml') },
    shadowDbInitScript: '',
    migrationDirectories: await Promise.all(
      names.sort().map(async (name) => ({
        path: name,
        migrationFile: {
          path: 'migration.sql',
          content: { tag: 'ok' as const, value: await read(`${name}/migration.sql`) },
        },
      })),
    ),
  };
}
