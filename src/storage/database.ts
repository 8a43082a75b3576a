import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { StartupError } from '../errors.ts';
import { PrismaClient } from '../generated/prisma/client.ts';
import { takeLock } from './lock.ts';
import { applyMigrations } from './migrate.ts';
import { makePrivate } from './private-path.ts';
import { createSilenceWatch } from './silence.ts';
import { embeddedSql, postgresSql, type Sql } from './sql.ts';

/** Where Parley keeps what must last, migrated and ready. */
export type Database = {
  prisma: PrismaClient;
  /** The same database, for the statements of every chat. */
  sql: Sql;
  /** One round trip to the database; rejects when it cannot be reached. */
  ping(): Promise<void>;
  close(): Promise<void>;
};

const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 30_000;
/** A process that hangs in the midst of a transaction has its locks for no longer. */
const TRANSACTION_REST_MS = 5_000;
/** By then the database has done whatever it was asked to, though whoever asked has given up. */
export const SETTLED_AFTER_MS = STATEMENT_TIMEOUT_MS + 10_000;
const PING_TIMEOUT_MS = 2_000;
const CONNECTIONS = 10;
const STATEMENT_CONNECTIONS = 8;
/**
 * The statements of every chat find few rows among many, and each connection plans them once, perhaps while there are
 * few rows yet: a plan that reads whole tables would then be kept while they grow.
 */
const BY_INDEX =
  '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off';

/**
 * Opens PostgreSQL and applies the migrations.
 *
 * @param url `postgresql://…`; may hold a password, which no message repeats.
 * @param options `lookEveryMs`: how often to look whether the server has fallen silent; each second by default.
 * @throws StartupError when the server or the database is not there.
 */
export async function openPostgres(
  url: string,
  { lookEveryMs }: { lookEveryMs?: number } = {},
): Promise<Database> {
  const connection: pg.PoolConfig = {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // Between two queries nobody listens for a moment: a connection that is cut just then would end the process.
    // Whoever uses it next gets the error.
    onConnect: (client) => void client.on('error', () => {}),
  };
  try {
    await applyMigrations(new PrismaPg(connection));
  } catch (error) {
    const { host, pathname } = new URL(url);
    throw new StartupError(
      `DATABASE_URL: cannot use the database ${pathname.slice(1)} at ${host}: ${reason(error)}. Is the server running, and does the database exist?`,
      { cause: error },
    );
  }
  // What an address says itself goes before what it is opened with: its own options are joined with ours. And Prisma's
  // adapter takes a moment of any other time zone for one of UTC, and writes it as one of that zone.
  const address = new URL(url);
  const own = address.searchParams.get('options') ?? '';
  address.searchParams.delete('options');
  const watch = createSilenceWatch(connection, lookEveryMs);
  const openPool = (max: number, options: string) => {
    const pool = new pg.Pool({
      ...connection,
      connectionString: address.href,
      stream: watch.stream,
      max,
      keepAlive: true,
      options: `${own} -c TimeZone=UTC -c idle_in_transaction_session_timeout=${TRANSACTION_REST_MS} ${options}`,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: STATEMENT_TIMEOUT_MS + CONNECT_TIMEOUT_MS,
    });
    // A connection that breaks while nobody uses it is replaced by another.
    pool.on('error', () => {});
    return pool;
  };
  const statements = openPool(STATEMENT_CONNECTIONS, BY_INDEX);
  const ordinary = openPool(CONNECTIONS, '');
  watch.begin([statements, ordinary]);
  const adapter = new PrismaPg(ordinary, { disposeExternalPool: true });
  return connect(adapter, postgresSql(statements), () => {
    watch.end();
    return statements.end();
  });
}

/**
 * Opens the embedded database of a data directory, makes it where there is none, and applies the migrations.
 * The directory stays locked against other processes until `close`, and other users can read nothing in it.
 *
 * @throws StartupError when the directory cannot be used, cannot be made private or is in use.
 */
export async function openEmbedded(dataDirectory: string): Promise<Database> {
  const lock = await lockDirectory(dataDirectory);
  try {
    const database = await embed({ dataDir: join(dataDirectory, 'database') });
    return {
      ...database,
      close: async () => {
        await database.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw new StartupError(
      `PARLEY_DATA_DIR: the database in ${dataDirectory} cannot be opened: ${reason(error)}. Restore it from a backup, or name another directory.`,
      { cause: error },
    );
  }
}

/** Opens PGlite with options of its own, such as none for a database in memory, and applies the migrations. */
export async function embed(options: PGliteOptions): Promise<Database> {
  const pglite = await PGlite.create(options);
  try {
    await applyMigrations(new PrismaPGlite(pglite));
    const database = connect(new PrismaPGlite(pglite), embeddedSql(pglite));
    return {
      ...database,
      close: async () => {
        await database.close();
        await pglite.close();
      },
    };
  } catch (error) {
    await pglite.close();
    throw error;
  }
}

/** @param hangUp ends the connections of `sql`, where it has its own. */
function connect(
  adapter: SqlDriverAdapterFactory,
  sql: Sql,
  hangUp?: () => Promise<void>,
): Database {
  const prisma = new PrismaClient({ adapter, errorFormat: 'minimal' });
  return {
    prisma,
    sql,
    ping: () => within(PING_TIMEOUT_MS, prisma.$queryRaw`SELECT 1`),
    // A server that has fallen silent is not waited for: what was committed is safe with it.
    close: () =>
      within(CONNECT_TIMEOUT_MS, Promise.all([prisma.$disconnect(), hangUp?.()])).catch(() => {}),
  };
}

/** Waits for some work, but not longer than the limit. */
async function within(limitMs: number, work: PromiseLike<unknown>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('The database is silent.')), limitMs);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function lockDirectory(dataDirectory: string) {
  const lock = await mkdir(dataDirectory, { recursive: true, mode: 0o700 })
    .then(() => makePrivate(dataDirectory, 0o700))
    .then(() => takeLock(join(dataDirectory, 'lock')))
    .catch((error) => {
      if (error instanceof StartupError) throw error;
      throw new StartupError(
        `PARLEY_DATA_DIR: cannot use ${dataDirectory}: ${reason(error)}. Name a directory that this user may write to.`,
        { cause: error },
      );
    });
  if (lock !== null) return lock;
  throw new StartupError(
    `PARLEY_DATA_DIR: another Parley process is using ${dataDirectory}. Stop it, or name another directory.`,
  );
}

function reason(error: unknown): string {
  const message = error instanceof Error && error.message ? error.message : String(error);
  return message.split('\n', 1)[0] ?? message;
}
