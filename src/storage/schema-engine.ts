import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import {
  bindMigrationAwareSqlAdapterFactory,
  isDriverAdapterError,
  type SqlDriverAdapter,
  type SqlDriverAdapterFactory,
  type SqlQuery,
  type Transaction,
} from '@prisma/driver-adapter-utils';
import * as engine from '@prisma/schema-engine-wasm/schema_engine_bg';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { startDeadline } from '../async/deadline.ts';
import { type Migrations, PRISMA_DIRECTORY, readMigrations } from './migration-files.ts';
import { applyScript, execute, inTransaction, POSTGRES_ADAPTER } from './migration-script.ts';

const SCHEMA_FILE = 'schema.prisma';
const NO_FILTERS = { externalTables: [], externalEnums: [] };

/**
 * Prisma's own advisory lock, in a transaction that stays open: behind a pooler, a lock of a session would outlive this
 * process. It is polled, because an index that is created concurrently waits for the statements of all other sessions.
 */
const TRY_LOCK = 'SELECT pg_try_advisory_xact_lock(72707369)';
/** What the engine executes for the same lock, in another session. */
const ENGINE_LOCK = 'SELECT pg_advisory_lock(72707369)';
const MAY_REST = 'SET LOCAL idle_in_transaction_session_timeout = 0';
const LOCK_POLL_MS = 250;
/** Limits the wait for another migrating process, which may create indexes of large tables. */
const LOCK_LIMIT_MS = 15 * 60 * 1_000;

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
  /** The engine replaces an error of the adapter by its own, so ours is passed around the engine. */
  let failure: Error | undefined;
  const connect = async () => {
    const connection = await adapter.connect();
    const lock = await acquireLock(connection);
    await execute(connection, FORGET_UNFINISHED);
    const executeRaw = connection.executeRaw.bind(connection);
    const dispose = connection.dispose.bind(connection);
    return Object.assign(connection, {
      executeRaw: async (query: SqlQuery) => (query.sql === ENGINE_LOCK ? 0 : executeRaw(query)),
      dispose: async () => {
        if (lock) await rollBack(lock);
        await dispose();
      },
      executeScript: (script: string) =>
        applyScript(connection, script).catch((error) => {
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

/** Prisma's adapter expects its caller to execute `ROLLBACK` before. */
async function rollBack(transaction: Transaction): Promise<void> {
  await execute(transaction, 'ROLLBACK');
  await transaction.rollback();
}

/**
 * @returns the transaction that holds the lock; `undefined` for the embedded database, which no other process can use.
 * @throws Error if another process migrates for longer than the limit.
 */
async function acquireLock(connection: SqlDriverAdapter): Promise<Transaction | undefined> {
  if (connection.adapterName !== POSTGRES_ADAPTER) return undefined;
  using deadline = startDeadline(LOCK_LIMIT_MS, {
    reason: () => new Error('another process has been migrating the database for 15 minutes'),
  });
  const transaction = await connection.startTransaction();
  await execute(transaction, MAY_REST);
  for (;;) {
    const { rows } = await transaction.queryRaw({ sql: TRY_LOCK, args: [], argTypes: [] });
    if (rows[0]?.[0] === true) return transaction;
    await setTimeout(LOCK_POLL_MS, undefined, { signal: deadline.signal }).catch(async () => {
      await rollBack(transaction);
      throw deadline.signal.reason;
    });
  }
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
  const run = async (schemaEngine: engine.SchemaEngine) => {
    const { stdout } = await schemaEngine.diff({
      from: { tag: 'migrations', ...(await readMigrations()) },
      to: { tag: 'schemaDatamodel', files: [await readSchema()] },
      script: true,
      exitCode: null,
      filters: NO_FILTERS,
    });
    return stdout?.includes('This is an empty migration') ? '' : (stdout ?? '');
  };
  return withEngine(adapter, run, () => connectToShadow(adapter));
}

/**
 * Runs work on a schema engine, then closes its connections: an open one would keep Prisma's advisory lock and block
 * the next process.
 */
async function withEngine<T>(
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
