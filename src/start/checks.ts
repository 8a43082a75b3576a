import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { IS_LIVE } from '../coordination/other-processes.ts';
import type { Redis } from '../coordination/redis.ts';
import type { ServerCheck } from '../coordination/server-state.ts';
import { StartupError } from '../errors/errors.ts';
import { refusedConnection } from '../storage/refused-connection.ts';
import type { Config } from './config.ts';

/** The result of one check. */
export type CheckResult = Omit<ServerCheck, 'name'>;

/** A check with its name. It may return several results with names. */
export type NamedCheck = [name: string, check: () => Promise<CheckResult | ServerCheck[]>];

/** The limit of each check. */
export const LIMIT_MS = 5_000;
/** Limits, expiries and session tokens tolerate a smaller difference. */
const MAX_CLOCK_DIFFERENCE_MS = 5_000;

const DOCTOR_PREFIX = 'parley:doctor:';
const COUNT_PROCESSES = `SELECT count(*) FROM owners WHERE ${IS_LIVE}`;

export const ok = (message: string): CheckResult => ({ status: 'ok', message });
export const warning = (message: string, advice: string): CheckResult => ({
  status: 'warning',
  message,
  advice,
});
export const failed = (message: string, advice: string): CheckResult => ({
  status: 'failed',
  message,
  advice,
});

/** Node.js, whether the settings are valid, and whether some are ignored. */
export const nodeCheck = (): ServerCheck => ({
  name: 'Node.js',
  ...ok(`${process.versions.node} runs the server`),
});

export const settingsCheck = (ignored: string | undefined): ServerCheck => ({
  name: 'Settings',
  ...(ignored ? warning('valid, but some are ignored', ignored) : ok('valid')),
});

/** The checks of what a server with these settings depends on. They change nothing. */
export const databaseChecks = (config: Config): NamedCheck[] => [
  ['Database', () => checkDatabase(config)],
  ['Redis', () => checkRedis(config)],
];
export const machineChecks = (config: Config): NamedCheck[] => [
  ['Clock', () => checkClock(config)],
  ['Data directory', () => checkDataDirectory(config)],
];

/** Runs checks at the same time. No result contains a password or a key. */
export async function runChecks(checks: readonly NamedCheck[]): Promise<ServerCheck[]> {
  const results = await Promise.all(
    checks.map(async ([name, check]) => {
      const result = await check().catch(unexpected);
      return Array.isArray(result) ? result : [{ name, ...result }];
    }),
  );
  return results.flat();
}

/** Checks what a running server depends on, as `parley doctor` does. */
export async function checkRunning(
  config: Config,
  ignored: string | undefined,
): Promise<ServerCheck[]> {
  const found = await runChecks([...databaseChecks(config), ...machineChecks(config)]);
  return [nodeCheck(), settingsCheck(ignored), ...found];
}

const unexpected = (error: unknown): CheckResult =>
  failed(`cannot be checked: ${reasonOf(error)}`, 'Correct that, and run parley doctor again.');

/** Errors of drivers may quote addresses with passwords, so only their codes are shown. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code) return String(error.code);
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time';
  if (error instanceof Error && error.cause) return reasonOf(error.cause);
  return error instanceof Error ? error.name : 'unknown error';
}

async function checkDatabase({ databaseUrl, dataDirectory }: Config): Promise<CheckResult> {
  if (databaseUrl === undefined)
    return ok(`the embedded database in ${dataDirectory}; DATABASE_URL names a PostgreSQL server`);
  const { host, pathname } = new URL(databaseUrl);
  const place = `${pathname.slice(1)} at ${host}`;
  try {
    const version = await askPostgres(databaseUrl, 'SHOW server_version');
    return ok(`PostgreSQL ${version}, ${place}`);
  } catch (error) {
    const refused = refusedConnection(databaseUrl, error);
    if (refused) return failed(`${place} cannot be used`, refused);
    return failed(
      `${place} cannot be used: ${reasonOf(error)}`,
      'Start PostgreSQL, create the database, or set DATABASE_URL to another one.',
    );
  }
}

/** @returns the first value of the first row as text. */
async function askPostgres(connectionString: string, query: string): Promise<string> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: LIMIT_MS,
    query_timeout: LIMIT_MS,
  });
  // The connection may end while it waits, after its query failed already.
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<string[]>({ text: query, rowMode: 'array' });
    return String(rows[0]?.[0]);
  } finally {
    await client.end().catch(() => {});
  }
}

async function checkRedis({ redisUrl, redisPlace, databaseUrl }: Config): Promise<CheckResult> {
  if (redisUrl === undefined) {
    // `checkDatabase` reports a database that does not answer.
    const count = databaseUrl
      ? Number(await askPostgres(databaseUrl, COUNT_PROCESSES).catch(() => 0))
      : 0;
    return count < 2
      ? ok('none; REDIS_URL is needed for several processes')
      : warning(
          `${count} processes use the database without a common Redis`,
          'Set REDIS_URL for all of them, or run one process.',
        );
  }
  const place = redisPlace.masterName ?? new URL(redisUrl).host;
  const { openRedis } = await import('../coordination/redis.ts');
  let redis: Redis;
  try {
    redis = await openRedis(redisUrl, DOCTOR_PREFIX, redisPlace);
  } catch (error) {
    // A message of Parley's own has no cause. One of the driver may quote an address with a password.
    const isOwn = error instanceof StartupError && error.cause === undefined;
    const why = isOwn ? error.message : reasonOf((error as Error).cause ?? error);
    return failed(
      `${place} cannot be used: ${why}`,
      'Start Redis, or set REDIS_URL to another server, with its password.',
    );
  }
  const { problem, warnings } = redis.state();
  await redis.close();
  const advice =
    'Change the server that REDIS_URL names, or name another one. The section Redis of docs/operations.md lists what Parley needs.';
  if (problem) return failed(`${place}: ${problem}`, advice);
  const [first] = warnings;
  return first ? warning(`${place}: ${first}`, advice) : ok(`answers at ${place}`);
}

async function checkClock({ databaseUrl }: Config): Promise<CheckResult> {
  if (databaseUrl === undefined) return ok('there is no other clock to compare with');
  const query = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint';
  const time = await askPostgres(databaseUrl, query).catch(() => undefined);
  if (time === undefined)
    return warning('cannot be compared', 'Correct DATABASE_URL or its server first.');
  const difference = Math.abs(Number(time) - Date.now());
  if (difference <= MAX_CLOCK_DIFFERENCE_MS) return ok('agrees with the database');
  return failed(
    `differs by ${Math.round(difference / 1_000)} s from the database`,
    'Synchronize the clocks of both machines, for example with NTP.',
  );
}

async function checkDataDirectory({ dataDirectory, databaseUrl }: Config): Promise<CheckResult> {
  const found = await stat(dataDirectory).catch(() => undefined);
  if (found === undefined) {
    const parent = join(dataDirectory, '..');
    const isWritable = await canWrite(parent);
    return isWritable
      ? ok(`${dataDirectory} does not exist yet; the first start creates it`)
      : failed(`${parent} is not writable`, 'Set PARLEY_DATA_DIR to another directory.');
  }
  if (!found.isDirectory())
    return failed(`${dataDirectory} is no directory`, 'Set PARLEY_DATA_DIR to a directory.');
  if (!(await canWrite(dataDirectory)))
    return failed(
      `${dataDirectory} is not writable`,
      'Let this user write to it, or set PARLEY_DATA_DIR to another directory.',
    );
  const user = process.getuid?.();
  if (user !== undefined && found.uid !== user)
    return failed(
      `${dataDirectory} belongs to another user`,
      'Set PARLEY_DATA_DIR to a directory of this user.',
    );
  const open = await openPaths(dataDirectory);
  if (open.length > 0)
    return warning(
      `other users can read ${open.join(' and ')}`,
      `The next start removes that. Or run: chmod go= ${open.join(' ')}`,
    );
  const use = databaseUrl === undefined ? 'holds the database and the secret key' : 'is not in use';
  return ok(`${dataDirectory} is private and ${use}`);
}

const canWrite = (path: string) =>
  access(path, constants.W_OK).then(
    () => true,
    () => false,
  );

/** The paths that other users can access. Windows has no such modes. */
async function openPaths(dataDirectory: string): Promise<string[]> {
  if (process.platform === 'win32') return [];
  const paths = [dataDirectory, join(dataDirectory, 'secret.key')];
  const modes = await Promise.all(
    paths.map(async (path) => ((await stat(path).catch(() => undefined))?.mode ?? 0) & 0o077),
  );
  return paths.filter((_path, index) => modes[index] !== 0);
}
