import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { withinTime } from '../deadline.ts';
import { StartupError } from '../errors.ts';
import { type Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { applyMigrations } from './migrate.ts';
import { createSilenceWatch } from './silence.ts';
import { BY_INDEX_OPTIONS, postgresQuery, postgresSql, type Sql } from './sql.ts';

/** Executes the statements of searches, apart from all others. */
export type SearchSql = {
  query<Rows>(statement: Prisma.Sql): Promise<Rows>;
  /** Whether the database ends a statement after `SEARCH_MS`, with the code 57014. */
  endsStatements: boolean;
};

/** The time limit of a search in milliseconds. */
export const SEARCH_MS = 2_000;

/** The migrated database. */
export type Database = {
  prisma: PrismaClient;
  /** The product. */
  name: 'PostgreSQL' | 'embedded database';
  /** A faster path to the same database, for the statements of every chat. */
  sql: Sql;
  /** Executes statements whose time depends on what a client searches for. */
  search: SearchSql;
  /** Updates the planner's statistics of tables that have grown. Absent where the server does it by itself. */
  analyze?: () => Promise<void>;
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
/** The connections of searches. `schema/searches.ts` starts no more searches at a time. */
const SEARCH_CONNECTIONS = 4;
/**
 * A search uses one core. A bitmap of 32 MB names each run among 5 GB of them. A smaller one would name whole pages, and
 * PostgreSQL would test each run of these pages again.
 */
const SEARCH_OPTIONS = '-c work_mem=32MB -c max_parallel_workers_per_gather=0';

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
  // writes timestamps of other zones as if they were UTC. Just-in-time compilation takes longer than any of our queries.
  const address = new URL(url);
  const own = address.searchParams.get('options') ?? '';
  address.searchParams.delete('options');
  const watch = createSilenceWatch(connection, checkEveryMs);
  const openPool = (max: number, options: string, limitMs = STATEMENT_TIMEOUT_MS) => {
    const pool = new pg.Pool({
      ...connection,
      connectionString: address.href,
      stream: watch.stream,
      max,
      keepAlive: true,
      options: `${own} -c TimeZone=UTC -c jit=off -c idle_in_transaction_session_timeout=${TRANSACTION_REST_MS} ${options}`,
      statement_timeout: limitMs,
      query_timeout: limitMs + CONNECT_TIMEOUT_MS,
    });
    // The pool replaces an idle connection that fails.
    pool.on('error', () => {});
    return pool;
  };
  const statements = openPool(STATEMENT_CONNECTIONS, BY_INDEX_OPTIONS);
  const ordinary = openPool(CONNECTIONS, '');
  const searches = openPool(SEARCH_CONNECTIONS, SEARCH_OPTIONS, SEARCH_MS);
  const watching = watch.start([statements, ordinary, searches]);
  const adapter = new PrismaPg(ordinary, { disposeExternalPool: true });
  const search: SearchSql = { query: postgresQuery(searches), endsStatements: true };
  return connect('PostgreSQL', adapter, postgresSql(statements), search, () =>
    Promise.all([watching[Symbol.asyncDispose](), statements.end(), searches.end()]),
  );
}

/**
 * @param search executes searches; by default on the connections of Prisma, without a time limit.
 * @param hangUp closes the connections of `sql` and `search`, if they have their own.
 */
export function connect(
  name: Database['name'],
  adapter: SqlDriverAdapterFactory,
  sql: Sql,
  search?: SearchSql,
  hangUp?: () => Promise<unknown>,
): Database {
  const prisma = new PrismaClient({
    adapter,
    errorFormat: 'minimal',
    // A transaction waits for a connection as long as a statement does.
    transactionOptions: { maxWait: CONNECT_TIMEOUT_MS },
  });
  return {
    name,
    prisma,
    sql,
    search: search ?? { query: (statement) => prisma.$queryRaw(statement), endsStatements: false },
    async ping() {
      const silence = () => new Error('The database did not respond.');
      await withinTime(PING_TIMEOUT_MS, prisma.$queryRaw`SELECT 1`, silence);
    },
    // Does not wait for a server that does not respond: committed data is safe.
    async close() {
      const closed = Promise.all([prisma.$disconnect(), hangUp?.()]);
      await withinTime(CONNECT_TIMEOUT_MS, closed).catch(() => {});
    },
  };
}

/** The first line of an error's message. */
export function reason(error: unknown): string {
  const message = error instanceof Error && error.message ? error.message : String(error);
  return message.split('\n', 1)[0] ?? message;
}
