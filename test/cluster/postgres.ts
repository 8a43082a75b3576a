import { globSync } from 'node:fs';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../helpers/free-port.ts';
import { folder, type Program, run, type Scope, startProgram, until } from './programs.ts';

/** A PostgreSQL server of this run. */
export type Postgres = {
  port: number;
  directory: string;
  /** Executes a statement as the superuser. @param database Parley's by default. */
  query<Row extends object>(sql: string, values?: unknown[], database?: string): Promise<Row[]>;
  /** @param signal `SIGINT` shuts down cleanly, `SIGQUIT` like a crash. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again, after `stop`. */
  start(): Promise<void>;
};

export const DATABASE = 'parley';
export const ROLE = 'parley';
export const PASSWORD = 'cluster-password';

/** Debian installs each version in a folder of its own. Elsewhere the programs are in the path. */
const [BIN = ''] = globSync('/usr/lib/postgresql/*/bin').sort().reverse();
const program = (name: string) => join(BIN, name);

const SETTINGS = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 200
wal_level = replica
hot_standby = on
# The machine does not fail, only the processes.
fsync = off
full_page_writes = off
`;

/** Superusers without a password, Parley's role with one. */
const ACCESS = `
host all ${ROLE} 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
host replication all 127.0.0.1/32 trust
`;

/** The URL of a database for Parley. */
export function databaseUrl(port: number, { database = DATABASE, password = PASSWORD } = {}) {
  return `postgresql://${ROLE}:${password}@127.0.0.1:${port}/${database}`;
}

/** Creates a cluster with an empty database for Parley, and starts it. */
export async function createPostgres(scope: Scope): Promise<Postgres> {
  const directory = join(await folder(scope), 'data');
  await run(
    program('initdb'),
    [
      '--auth=trust',
      '--username=postgres',
      '--no-sync',
      '--encoding=UTF8',
      '--locale=C',
      directory,
    ],
    scope,
  );
  await writeFile(join(directory, 'pg_hba.conf'), ACCESS);
  await appendFile(join(directory, 'postgresql.conf'), SETTINGS);
  const server = await startPostgres(directory, scope);
  await server.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}'`);
  await server.query(`CREATE DATABASE ${DATABASE} OWNER ${ROLE}`);
  return server;
}

/** Copies a stopped cluster, and starts the copy. */
export async function copyPostgres(template: string, scope: Scope): Promise<Postgres> {
  const directory = join(await folder(scope), 'data');
  await run('cp', ['--archive', template, directory], scope);
  return startPostgres(directory, scope);
}

/**
 * Starts a standby that streams from a primary, and waits until it has caught up.
 *
 * @param port of a stopped server whose place it takes; by default a free one.
 */
export async function startStandby(
  primary: Postgres,
  scope: Scope,
  port?: number,
): Promise<Postgres> {
  const directory = join(await folder(scope), 'data');
  await run(
    program('pg_basebackup'),
    [`--dbname=${source(primary)}`, '--checkpoint=fast', '--no-sync', '--wal-method=stream'].concat(
      '--write-recovery-conf',
      `--pgdata=${directory}`,
    ),
    scope,
  );
  const standby = await startPostgres(directory, scope, port);
  await until(() => isStreaming(primary), 'the standby to stream', scope);
  return standby;
}

/** Makes a stopped primary the standby of a new one, and starts it. */
export async function becomeStandby(former: Postgres, primary: Postgres, scope: Scope) {
  await run('touch', [join(former.directory, 'standby.signal')], scope);
  await appendFile(
    join(former.directory, 'postgresql.auto.conf'),
    `primary_conninfo = '${source(primary)}'\n`,
  );
  await former.start();
}

/** Promotes a standby, and waits until it accepts writes. */
export async function promote(standby: Postgres): Promise<void> {
  await standby.query('SELECT pg_promote()');
}

/** Ends the replication, so that the primary's further transactions do not reach the standby. */
export async function stopStreaming(standby: Postgres, primary: Postgres, scope: Scope) {
  await standby.query("ALTER SYSTEM SET primary_conninfo = ''");
  await standby.query('SELECT pg_reload_conf()');
  await until(async () => !(await isStreaming(primary)), 'the replication to end', scope);
}

async function isStreaming(primary: Postgres): Promise<boolean> {
  const rows = await primary.query(
    "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND application_name = 'walreceiver'",
  );
  return rows.length > 0;
}

const source = ({ port }: Postgres) => `host=127.0.0.1 port=${port} user=postgres`;

async function startPostgres(directory: string, scope: Scope, wanted?: number): Promise<Postgres> {
  const port = wanted ?? (await freePort());
  let running: Program;
  const query = async <Row extends object>(
    sql: string,
    values?: unknown[],
    database = DATABASE,
  ) => {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query<Row>(sql, values)).rows;
    } finally {
      await client.end();
    }
  };
  const isReady = async () => {
    await query('SELECT 1', [], 'postgres');
    return true;
  };
  const start = async () => {
    const args = ['-D', directory, '-p', String(port)];
    running = await startProgram(program('postgres'), args, scope, isReady);
  };
  await start();
  return {
    port,
    directory,
    // The database of Parley does not exist yet when it is created.
    query: (sql, values, database = /^CREATE /.test(sql) ? 'postgres' : DATABASE) =>
      query(sql, values, database),
    stop: (signal) => running.stop(signal),
    start,
  };
}
