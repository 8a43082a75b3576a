import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { type Settings, setLocal } from './set-local.ts';

/** The settings of all pools. */
type CommonSettings = Settings & { statement_timeout: number };

/** Opens pools of connections to one server. */
export type Pools = {
  /** @param settings in place of the common ones, or besides them. */
  open(max: number, settings?: Settings): pg.Pool;
  /** Executes Prisma's statements on a pool with the common settings, which ends with Prisma. */
  adapterOf(pool: pg.Pool): SqlDriverAdapterFactory;
  /**
   * Whether each connection has a session of the server for itself, which keeps prepared statements. False behind a pooler,
   * such as PgBouncer.
   */
  hasSessions: boolean;
};

/** Names Parley in `pg_stat_activity`, unless the URL has a name. */
const APPLICATION_NAME = 'parley';
/** Connections end after at most this time, minus a random part, so that they follow a change of the server's address. */
const MAX_LIFETIME_SECONDS = 30 * 60;
/** How long after its own limit a statement without an answer fails. */
const UNANSWERED_MS = 5_000;
/** A setting that only Parley knows. A server that has it took the settings of the connection. */
const MARKER = 'parley.session';
/** PgBouncer's code for a connection with settings that it does not know: protocol violation. */
const REFUSED_SETTINGS = '08P01';

/**
 * Finds out whether the server gives each connection a session for itself. Then the settings are part of the connection's
 * start. A pooler refuses or ignores them. Then each statement is executed in a transaction that begins with `SET LOCAL`.
 *
 * The time zone of a session must be UTC: Prisma's adapter reads and writes times of other zones as if they were UTC. It is
 * the only setting that a pooler keeps for a connection.
 *
 * @param config with the URL of the server, without a limit of statements.
 * @param common the settings of all pools.
 * @throws the error of the server or of the network.
 */
export async function findPools(config: pg.PoolConfig, common: CommonSettings): Promise<Pools> {
  const address = new URL(config.connectionString ?? '');
  // Options in the URL would override ours, so both are joined.
  const own = address.searchParams.get('options') ?? '';
  address.searchParams.delete('options');
  const named = {
    ...config,
    connectionString: address.href,
    fallback_application_name: APPLICATION_NAME,
  };
  const optionsOf = (settings: Settings) => `${own} ${options({ TimeZone: 'UTC', ...settings })}`;
  const hasSessions = await takesSettings({ ...named, options: optionsOf({ [MARKER]: 'own' }) });

  const open: Pools['open'] = (max, more = {}) => {
    const settings = { ...common, ...more };
    const shared = {
      ...named,
      max,
      query_timeout: settings.statement_timeout + UNANSWERED_MS,
      keepAlive: true,
      maxLifetimeSeconds: MAX_LIFETIME_SECONDS * (1 - Math.random() / 4),
    };
    const pool = hasSessions
      ? new pg.Pool({ ...shared, options: optionsOf(settings) })
      : limitTransactions(
          new pg.Pool({ ...shared, ...(own && { options: own }), onConnect: setTimeZone(config) }),
          settings,
        );
    // The pool replaces an idle connection that fails.
    pool.on('error', () => {});
    return pool;
  };
  const adapterOf: Pools['adapterOf'] = (pool) => {
    const adapter = new PrismaPg(pool, { disposeExternalPool: true });
    return hasSessions ? adapter : limitPrisma(adapter, common);
  };
  return { open, adapterOf, hasSessions };
}

async function takesSettings(config: pg.ClientConfig): Promise<boolean> {
  const client = new pg.Client(config);
  client.on('error', () => {});
  try {
    await client.connect();
    const query = `SELECT current_setting('${MARKER}', true) = 'own' AS own`;
    const { rows } = await client.query<{ own: boolean | null }>(query);
    return rows[0]?.own === true;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === REFUSED_SETTINGS) return false;
    throw error;
  } finally {
    await client.end().catch(() => {});
  }
}

function setTimeZone({ onConnect }: pg.PoolConfig): pg.PoolConfig['onConnect'] {
  return async (client) => {
    await onConnect?.(client);
    await client.query("SET TimeZone = 'UTC'");
  };
}

/** Executes each statement of a pool in a transaction with these settings. */
function limitTransactions(pool: pg.Pool, settings: Settings): pg.Pool {
  const query = async (statement: pg.QueryConfig) => {
    const client = await pool.connect();
    try {
      await client.query(`BEGIN; ${setLocal(settings)}`);
      const result = await client.query(statement);
      await client.query('COMMIT');
      client.release();
      return result;
    } catch (error) {
      client.release(true);
      throw error;
    }
  };
  return Object.assign(pool, { query });
}

/** Begins each transaction of Prisma with these settings. */
function limitPrisma(adapter: PrismaPg, settings: Settings): SqlDriverAdapterFactory {
  const connect = async () => {
    const connection = await adapter.connect();
    const begin = connection.startTransaction.bind(connection);
    const startTransaction: typeof begin = async (level) => {
      const transaction = await begin(level);
      await transaction.executeRaw({ sql: setLocal(settings), args: [], argTypes: [] });
      return transaction;
    };
    return Object.assign(connection, { startTransaction });
  };
  return { ...adapter, connect };
}

/** `-c name=value …`, for the start of a connection. */
function options(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}
