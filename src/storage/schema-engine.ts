import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import {
  bindMigrationAwareSqlAdapterFactory,
  isDriverAdapterError,
  type SqlDriverAdapter,
  type SqlDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import * as engine from '@prisma/schema-engine-wasm/schema_engine_bg';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { type Migrations, PRISMA_DIRECTORY, readMigrations } from './migration-files.ts';

const SCHEMA_FILE = 'schema.prisma';
const NO_FILTERS = { externalTables: [], externalEnums: [] };

/** Limits the wait for another migrating process or for a locked table. */
const LIMIT_WAITS = "SET lock_timeout = '60s'";
/** Prisma's own advisory lock. It is reentrant within a database session and is released when the session ends. */
const TAKE_LOCK = 'SELECT pg_advisory_lock(72707369)';

/**
 * Deletes the records of interrupted and failed migrations, so that they are applied again: nothing else is left of
 * them, since each is atomic. A migration that an earlier version applied in part then fails as a whole, because its
 * objects already exist.
 */
const FORGET_UNFINISHED = `DO $parley$ BEGIN
  IF to_regclass('_prisma_migrations') IS NOT NULL THEN
    DELETE FROM "_prisma_migrations" WHERE finished_at IS NULL AND rolled_back_at IS NULL;
  END IF;
END $parley$`;

/**
 * Applies all pending migrations with the WebAssembly build of Prisma's schema engine, which works on PostgreSQL and
 * PGlite without a download. See `applyMigrations`.
 */
export async function applyPending(
  adapter: SqlDriverAdapterFactory,
  migrationsList: Migrations,
): Promise<string[]> {
  let failure: Error | undefined;
  const connect = async () => {
    const connection = await adapter.connect();
    for (const sql of [LIMIT_WAITS, TAKE_LOCK, FORGET_UNFINISHED]) await execute(connection, sql);
    return Object.assign(connection, {
      executeScript: (script: string) =>
        execute(connection, wholeMigration(script)).catch((error) => {
          failure = cannotApply(error, migrationsList.migrationDirectories, script);
          throw error;
        }),
    });
  };
  return withEngine({ ...adapter, connect }, async (schemaEngine) => {
    const { appliedMigrationNames } = await schemaEngine
      .applyMigrations({ migrationsList, filters: NO_FILTERS })
      .catch((error) => {
        throw failure ?? error;
      });
    return appliedMigrationNames;
  });
}

async function execute(connection: SqlDriverAdapter, sql: string): Promise<void> {
  await connection.executeRaw({ sql, args: [], argTypes: [] });
}

/**
 * Wraps a migration so that it and the record of its completion commit in one statement. The engine uses two, and a
 * process may die between them. Also, one adapter splits scripts, and the other does not await them.
 */
function wholeMigration(script: string): string {
  return `DO $parley$ BEGIN
    EXECUTE $migration$${script}$migration$;
    UPDATE "_prisma_migrations" SET finished_at = now()
    WHERE finished_at IS NULL AND rolled_back_at IS NULL;
  END $parley$`;
}

/** Replaces the engine's error, whose first line has no information. */
function cannotApply(error: Error, all: Migrations['migrationDirectories'], script: string): Error {
  const name = all.find(({ migrationFile }) => migrationFile.content.value === script)?.path;
  const message = (isDriverAdapterError(error) && error.cause.originalMessage) || error.message;
  return new Error(`the migration ${name} cannot be applied: ${message}`, { cause: error });
}

/**
 * Generates the SQL that migrates from the recorded migrations to `prisma/schema.prisma`.
 *
 * @returns the script; empty if there is no difference.
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
 * Runs work on a schema engine, then closes its connections: an open one would keep Prisma's advisory lock and block
 * the next process.
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
