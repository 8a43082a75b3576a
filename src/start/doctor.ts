/**
 * Checks the requirements of a server with these settings, and prints the results as JSON. `parley doctor` runs it. It changes
 * nothing: it opens no embedded database and applies no migration. No result contains a password or a key.
 */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { IS_LIVE } from '../coordination/other-processes.ts';
import { openRedis, type Redis } from '../coordination/redis.ts';
import { StartupError } from '../errors/errors.ts';
import { refusedConnection } from '../storage/refused-connection.ts';
import { type Config, readConfig } from './config.ts';
import { type ModelServerCheck as Check, checkModelServer } from './doctor-model.ts';
import { readSettings } from './env-file.ts';

type Result = Omit<Check, 'name'>;

/** The limit of each check. */
const LIMIT_MS = 5_000;
/** Limits, expiries and session tokens tolerate a smaller difference. */
const MAX_CLOCK_DIFFERENCE_MS = 5_000;

const DOCTOR_PREFIX = 'parley:doctor:';
const COUNT_PROCESSES = `SELECT count(*) FROM owners WHERE ${IS_LIVE}`;

const ok = (message: string): Result => ({ status: 'ok', message });
const warning = (message: string, advice: string): Result => ({
  status: 'warning',
  message,
  advice,
});
const failed = (message: string, advice: string): Result => ({ status: 'failed', message, advice });

async function checkAll(): Promise<Check[]> {
  const node = { name: 'Node.js', ...ok(`${process.versions.node} runs the server`) };
  let config: Config;
  let ignored: string | undefined;
  try {
    const settings = await readSettings();
    config = readConfig(settings.values);
    ignored = settings.warning;
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    const problems = error.message.split('\n').map((message) => ({
      name: 'Settings',
      ...failed(message, 'Correct it in the environment or in .env.'),
    }));
    return [node, ...problems];
  }
  const checks: [name: string, check: () => Promise<Result | Check[]>][] = [
    ['Database', () => checkDatabase(config)],
    ['Redis', () => checkRedis(config)],
    ['Model server', () => checkModelServer(config, LIMIT_MS)],
    ['Port', () => checkPort(config)],
    ['Clock', () => checkClock(config)],
    ['Data directory', () => checkDataDirectory(config)],
  ];
  const results = await Promise.all(
    checks.map(async ([name, check]) => {
      const result = await check().catch(unexpected);
      return Array.isArray(result) ? result : [{ name, ...result }];
    }),
  );
  const valid = ignored ? warning('valid, but some are ignored', ignored) : ok('valid');
  return [node, { name: 'Settings', ...valid }, ...results.flat()];
}

const unexpected = (error: unknown): Result =>
  failed(`cannot be checked: ${reasonOf(error)}`, 'Correct that, and run parley doctor again.');

/** Errors of drivers may quote addresses with passwords, so only their codes are shown. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code) return String(error.code);
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time';
  if (error instanceof Error && error.cause) return reasonOf(error.cause);
  return error instanceof Error ? error.name : 'unknown error';
}

async function checkDatabase({ databaseUrl, dataDirectory }: Config): Promise<Result> {
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

async function checkRedis({ redisUrl, redisPlace, databaseUrl }: Config): Promise<Result> {
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

async function checkPort({ host, port }: Config): Promise<Result> {
  const place = `${host}:${port}`;
  const code = await new Promise<string | undefined>((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown error'));
    server.listen({ host, port }, () => server.close(() => resolve(undefined)));
  });
  if (code === undefined) return ok(`${place} is free`);
  if (code !== 'EADDRINUSE')
    return failed(`cannot listen on ${place}: ${code}`, 'Set another HOST or PORT.');
  const version = await parleyAt(`http://${place}`);
  if (version !== undefined) return ok(`Parley ${version} is running on ${place}`);
  return failed(`another program listens on ${place}`, 'Stop that program, or set another PORT.');
}

async function parleyAt(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(LIMIT_MS) });
    const body: unknown = await response.json();
    const isParley = typeof body === 'object' && body !== null && 'version' in body;
    return isParley ? String(body.version) : undefined;
  } catch {
    return undefined;
  }
}

async function checkClock({ databaseUrl }: Config): Promise<Result> {
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

async function checkDataDirectory({ dataDirectory, databaseUrl }: Config): Promise<Result> {
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

process.stdout.write(`${JSON.stringify(await checkAll())}\n`, () => process.exit());
