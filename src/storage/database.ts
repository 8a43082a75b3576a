import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { startDeadline, untilAborted } from '../deadline.ts';
import { StartupError } from '../errors.ts';
import { PrismaClient } from '../generated/prisma/client.ts';
import { takeLock } from './lock.ts';
import { applyMigrations } from './migrate.ts';
import { makePrivate } from './private-path.ts';
import { createSilenceWatch } from './silence.ts';
import { embeddedSql, postgresSql, type Sql } from './sql.ts';

/** The migrated database. */
export type Database = {
  prisma: PrismaClient;
  /** The product. */
  name: 'PostgreSQL' | 'embedded database';
  /** A faster path to the same database, for the statements of every chat. */
  sql: Sql;
  /** One round trip to the database; rejects when it cannot be reached. */
  ping(): Promise<void>;
  close(): Promise<void>;
};

const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 30_000;
/** PostgreSQL ends a transaction that is idle for longer, so that a hanging process does not keep its locks. */
const TRANSACTION_REST_MS = 5_000;
/** After this time, a statement whose caller gave up has either committed or failed. */
export const SETTLED_AFTER_MS = STATEMENT_TIMEOUT_MS + 10_000;
const PING_TIMEOUT_MS = 2_000;
const CONNECTIONS = 10;
const STATEMENT_CONNECTIONS = 8;
/**
 * Forces index plans for the statements of every chat. Each connection plans them once, perhaps while the tables are
 * still small, and would keep a plan that scans whole tables after they have grown.
 */
const BY_INDEX =
  '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off';

/**
 * Opens PostgreSQL and applies the migrations.
 *
 * @param url `postgresql://…`. It may contain a password, which no error message shows.
 * @param options `checkEveryMs`: how often to check that the server responds; 1 second by default.
 * @throws StartupError if the server or the database is unavailable.
 */
export async function openPostgres(
  url: string,
  { checkEveryMs }: { checkEveryMs?: number } = {},
): Promise<Database> {
  const connection: pg.PoolConfig = {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // Between two queries a connection briefly has no error listener, and an unhandled error would crash the process.
    // The next query on the connection gets the error.
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
  // Options in the URL would override ours, so both are joined. The time zone must be UTC: Prisma's adapter reads and
  // writes timestamps of other zones as if they were UTC.
  const address = new URL(url);
  const own = address.searchParams.get('options') ?? '';
  address.searchParams.delete('options');
  const watch = createSilenceWatch(connection, checkEveryMs);
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
    // The pool replaces an idle connection that fails.
    pool.on('error', () => {});
    return pool;
  };
  const statements = openPool(STATEMENT_CONNECTIONS, BY_INDEX);
  const ordinary = openPool(CONNECTIONS, '');
  const watching = watch.start([statements, ordinary]);
  const adapter = new PrismaPg(ordinary, { disposeExternalPool: true });
  return connect('PostgreSQL', adapter, postgresSql(statements), () =>
    Promise.all([watching[Symbol.asyncDispose](), statements.end()]),
  );
}

/**
 * Opens the embedded database in a data directory, creates it if necessary, and applies the migrations. Locks the
 * directory against other processes until `close`, and makes it unreadable to other users.
 *
 * @throws StartupError if the directory cannot be used, cannot be made private, or is in use.
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

/** Opens PGlite and applies the migrations. Without `dataDir` the database is in memory. */
export async function embed(options: PGliteOptions): Promise<Database> {
  const pglite = await PGlite.create(options);
  try {
    await applyMigrations(new PrismaPGlite(pglite));
    const database = connect('embedded database', new PrismaPGlite(pglite), embeddedSql(pglite));
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

/** @param hangUp closes the connections of `sql`, if it has its own. */
function connect(
  name: Database['name'],
  adapter: SqlDriverAdapterFactory,
  sql: Sql,
  hangUp?: () => Promise<unknown>,
): Database {
  const prisma = new PrismaClient({ adapter, errorFormat: 'minimal' });
  return {
    name,
    prisma,
    sql,
    ping: () => within(PING_TIMEOUT_MS, prisma.$queryRaw`SELECT 1`),
    // Does not wait for a server that does not respond: committed data is safe.
    close: () =>
      within(CONNECT_TIMEOUT_MS, Promise.all([prisma.$disconnect(), hangUp?.()])).catch(() => {}),
  };
}

/** @throws an error if the work takes longer than the limit. */
async function within(limitMs: number, work: PromiseLike<unknown>): Promise<void> {
  using deadline = startDeadline(limitMs, { reason: () => new Error('The database is silent.') });
  await untilAborted(work, deadline.signal);
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
