import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import type pg from 'pg';
import { withinTime } from '../async/deadline.ts';
import { GatewayError, StartupError } from '../errors/errors.ts';
import { type Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { applyMigrations } from './migrate.ts';
import { TABLE_LOCK_MS } from './migration-script.ts';
import { assertExactTimes } from './moment.ts';
import { findPools } from './pools.ts';
import { refusedConnection } from './refused-connection.ts';
import { createSilenceWatch } from './silence.ts';
import { BY_INDEX, postgresQuery, postgresSql, type Sql } from './sql.ts';
import { leaveStandbys } from './standby.ts';

/** Executes the statements of searches, apart from all others. */
export type SearchSql = {
  /** @param limitMs the time limit of the statement. */
  query<Rows>(statement: Prisma.Sql, limitMs: number): Promise<Rows>;
  /** Whether the database ends a statement after its time limit, with the code 57014. */
  endsStatements: boolean;
};

/** The time limit of all statements of a search together, in milliseconds. */
export const SEARCH_MS = 2_000;

/** The migrated database. */
export type Database = {
  prisma: PrismaClient;
  /** The product. */
  name: 'PostgreSQL' | 'embedded database';
  /** Whether no other process can use it. */
  isExclusive?: boolean;
  /** A faster path to the same database, for the statements of every chat. */
  sql: Sql;
  /** Executes statements whose time depends on what a client searches for. */
  search: SearchSql;
  /** Updates the planner's statistics of tables that have grown. Absent where the server does it by itself. */
  analyze?: () => Promise<void>;
  /** One round trip to the database. @throws if it cannot be reached; GatewayError if it accepts no writes. */
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
/** The connections of Prisma. */
export const DEFAULT_POOL_SIZE = 10;
/** The connections for the statements of every chat, as a part of the connections of Prisma. */
const STATEMENT_SHARE = 0.8;
/** The searches that a process executes at a time. Each uses one connection of PostgreSQL. */
export const SEARCH_CONNECTIONS = 4;
/** Just-in-time compilation takes longer than any of our queries. */
const SETTINGS = {
  jit: 'off',
  statement_timeout: STATEMENT_TIMEOUT_MS,
  idle_in_transaction_session_timeout: TRANSACTION_REST_MS,
};

export type PostgresOptions = {
  /** The URL of the same database without a pooler, for the migrations. */
  directUrl?: string | undefined;
  /** The connections of Prisma, 10 by default. `sql` has 0.8 times as many more, searches have 4. */
  poolSize?: number | undefined;
  /** How often to check that the server responds; 1 second by default. */
  checkEveryMs?: number;
};

/**
 * Opens PostgreSQL and applies the migrations.
 *
 * @param url `postgresql://…`. It may contain a password, which no error message shows.
 * @throws StartupError if the server or the database is unavailable, or if a pooler changes the time zone of the session.
 */
export async function openPostgres(
  url: string,
  { directUrl, poolSize = DEFAULT_POOL_SIZE, checkEveryMs }: PostgresOptions = {},
): Promise<Database> {
  const connection = connectionOf(url);
  const watch = createSilenceWatch(connection, checkEveryMs);
  const watched = { ...connection, stream: watch.stream };
  const pools = await explained('DATABASE_URL', url, () => findPools(watched, SETTINGS));
  const setting = directUrl ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL';
  const migrated = directUrl ?? url;
  await explained(setting, migrated, () => {
    // A pooler may refuse the setting. Only indexes that are created concurrently need it, the other migrations set it themselves.
    const hasLimit = !directUrl && pools.hasSessions;
    const options = { ...connectionOf(migrated), ...(hasLimit && { lock_timeout: TABLE_LOCK_MS }) };
    return applyMigrations(new PrismaPg(options));
  });
  const statements = pools.open(Math.ceil(poolSize * STATEMENT_SHARE), BY_INDEX);
  const ordinary = pools.open(poolSize);
  const searches = pools.open(SEARCH_CONNECTIONS, { statement_timeout: SEARCH_MS });
  const opened = [statements, ordinary, searches];
  leaveStandbys(opened);
  const watching = watch.start(opened);
  const search: SearchSql = { query: postgresQuery(searches), endsStatements: true };
  const sql = postgresSql(statements, pools);
  const database = connect('PostgreSQL', pools.adapterOf(ordinary), sql, search, () =>
    Promise.all([watching[Symbol.asyncDispose](), statements.end(), searches.end()]),
  );
  await assertExactTimes(database.prisma).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  return database;
}

function connectionOf(url: string): pg.PoolConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // Between two queries a connection briefly has no error listener, and an unhandled error would crash the process.
    // The next query on the connection gets the error.
    onConnect: (client) => void client.on('error', () => {}),
  };
}

/** @throws StartupError that explains an error of the work, with the name of the setting that holds the URL. */
async function explained<T>(setting: string, url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StartupError) throw error;
    const { host, pathname } = new URL(url);
    const refused = refusedConnection(url, error, setting);
    if (refused) throw new StartupError(refused, { cause: error });
    throw new StartupError(
      `${setting}: cannot use the database ${pathname.slice(1)} at ${host}: ${reason(error)}. Is the server running, and does the database exist?`,
      { cause: error },
    );
  }
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
      const state = prisma.$queryRaw<
        { isStandby: boolean }[]
      >`SELECT pg_is_in_recovery() AS "isStandby"`;
      const [found] = await withinTime(PING_TIMEOUT_MS, state, silence);
      if (found?.isStandby) throw new GatewayError('internal_error', `${name} is read-only.`);
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
