import { Redis as Client, type RedisOptions } from 'ioredis';
import { type PeriodicTask, startPeriodic } from '../async/periodic.ts';
import { GatewayError, StartupError } from '../errors/errors.ts';
import { verdictOn } from '../errors/outage.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../observability/log.ts';
import { checkRedis, type RedisState } from './redis-check.ts';

/** The Redis connections of one installation. Redis holds only short-lived shared state. */
export type Redis = {
  /** Commands fail at once while disconnected, and after 1 second without a response. */
  client: Client;
  /** The connection for subscriptions. */
  subscriber: Client;
  /** The prefix of all keys and channels of this installation. */
  prefix: string;
  /** Logs when the connection is lost, once, and when it is restored. */
  logTo(log: Log): void;
  /** Checks the server every 10 seconds until it is disposed of. Logs each change, once. */
  watch(log: Log): PeriodicTask;
  /** What the last check found. */
  state(): RedisState;
  /** Whether this process counts limits by itself, because Redis is disconnected or has a problem. */
  isDegraded(): boolean;
  /** One round trip to the server; rejects when it cannot be reached. @throws GatewayError with a problem. */
  ping(): Promise<void>;
  /** Flushes pending commands for up to 1 second, then disconnects. */
  close(): Promise<void>;
};

const CONNECT_TIMEOUT_MS = 5_000;
const LONGEST_PAUSE_MS = 2_000;
const pauseAfter = (times: number) => Math.min(times * 100, LONGEST_PAUSE_MS);
/** The limits of a command, and of the wait for a response on the socket. */
const LIMITS = { commandTimeout: 1_000, socketTimeout: 1_000, sentinelRetryStrategy: pauseAfter };
/** The first connection of a process may take longer: a failed one stops the start. */
const FIRST_LIMITS = {
  commandTimeout: CONNECT_TIMEOUT_MS,
  socketTimeout: CONNECT_TIMEOUT_MS,
  sentinelRetryStrategy: () => null,
};
const CHECK_EVERY_MS = 10_000;

/**
 * Commands neither wait for a connection nor are resent: a resent command could count a request twice. A server that
 * does not respond counts as disconnected until it responds again.
 */
const OPTIONS: RedisOptions = {
  lazyConnect: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  enableOfflineQueue: false,
  // Commands of the same tick leave in one write.
  enableAutoPipelining: true,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  autoResubscribe: false,
  retryStrategy: pauseAfter,
};

/** The Sentinels and the certificates for a connection to Redis. */
export type RedisPlace = {
  /** Sentinels, which return the address of the master with this name. The host and the port of the URL are then ignored. */
  sentinels?: { host: string; port: number }[] | undefined;
  masterName?: string | undefined;
  sentinelPassword?: string | undefined;
  /** Whether the Sentinels take TLS. Redis itself takes TLS if its URL is `rediss://`. */
  sentinelTls?: boolean | undefined;
  /** Certificates in PEM that may sign the certificates of Redis and of the Sentinels. Defaults to the certificates of Node.js. */
  ca?: string | undefined;
};

/**
 * Connects to Redis.
 *
 * @param url `redis://…` or `rediss://…`. It may contain a password, which no error message shows.
 * @param prefix from `redisPrefix`.
 * @throws StartupError if the server is unreachable, rejects the credentials, is too old or in cluster mode.
 */
export async function openRedis(
  url: string,
  prefix: string,
  place: RedisPlace = {},
): Promise<Redis> {
  const client = new Client(url, { ...OPTIONS, ...FIRST_LIMITS, ...optionsOf(url, place) });
  const subscriber = client.duplicate();
  const disconnect = () => {
    client.disconnect();
    subscriber.disconnect();
  };
  const { setting, address } = place.sentinels
    ? { setting: 'REDIS_SENTINELS', address: `master ${place.masterName}` }
    : { setting: 'REDIS_URL', address: `server at ${new URL(url).host}` };
  const connections = { client, subscriber, prefix };
  let state = await Promise.all([connect(client), connect(subscriber)])
    .then(() => checkRedis(connections))
    .catch((error: Error) => {
      disconnect();
      throw new StartupError(
        `${setting}: cannot use the ${address}: ${error.message}. Is it running, and is the password right?`,
        { cause: error },
      );
    });
  if (!state.isSupported) {
    disconnect();
    throw new StartupError(`${setting}: cannot use the ${address}: ${state.problem}`);
  }
  for (const { options } of [client, subscriber]) Object.assign(options, LIMITS);
  let closing = false;
  const tell = (log: Log, before: Pick<RedisState, 'problem' | 'warnings'>) => {
    const { problem, warnings } = state;
    for (const warning of warnings) if (!before.warnings.includes(warning)) log.warn({}, warning);
    if (problem === before.problem) return;
    if (problem) log.error({}, `${problem} This process counts limits in its own memory.`);
    else log.warn({}, 'Redis can be used again.');
  };
  return {
    client,
    subscriber,
    prefix,
    logTo(log) {
      let isDown = false;
      client.on('close', () => {
        if (!isDown && !closing)
          log.error({}, 'Redis connection lost. This process continues without Redis.');
        isDown = true;
      });
      client.on('ready', () => {
        if (isDown) log.warn({}, 'Redis connection restored.');
        isDown = false;
      });
    },
    watch(log) {
      tell(log, { problem: undefined, warnings: [] });
      const check = async () => {
        const before = state;
        // A lost connection is logged by `logTo`.
        state = await checkRedis(connections).catch(() => before);
        tell(log, before);
      };
      return startPeriodic(check, { everyMs: CHECK_EVERY_MS });
    },
    state: () => state,
    isDegraded: () => client.status !== 'ready' || state.problem !== undefined,
    ping: async () => {
      await client.ping();
      if (state.problem) throw new GatewayError('internal_error', state.problem);
    },
    async close() {
      closing = true;
      await client.quit().catch(() => {});
      disconnect();
    },
  };
}

function optionsOf(url: string, place: RedisPlace): RedisOptions {
  const { sentinels, masterName, sentinelPassword, sentinelTls, ca } = place;
  const tls = ca === undefined ? {} : { ca };
  const hasTls = new URL(url).protocol === 'rediss:';
  return {
    ...(hasTls && { tls }),
    ...(sentinels && {
      sentinels,
      name: masterName,
      sentinelPassword,
      ...(hasTls && { enableTLSForSentinelMode: true }),
      ...(sentinelTls && { sentinelTLS: tls }),
      sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
      // A former master that became a replica refuses writes. The Sentinels know the new one.
      reconnectOnError: (error: Error) => verdictOn(error) === 'reconnect',
    }),
  };
}

/**
 * Separates installations that share a Redis server: the prefix contains the unique id of the first migration in the
 * installation's database, so all replicas have the same one.
 */
export async function redisPrefix(prisma: PrismaClient): Promise<string> {
  const [first] = await prisma.$queryRaw<{ id: string }[]>`
    SELECT id FROM _prisma_migrations ORDER BY started_at, id LIMIT 1`;
  if (!first) throw new Error('The database has no migrations.');
  return `parley:${first.id}:`;
}

/** Opens the first connection. @throws the error of the server or of the network. */
async function connect(client: Client): Promise<void> {
  // The promise may reject with "Connection is closed" only. The `error` event has the cause.
  let reason: unknown;
  client.on('error', (error) => {
    reason = error;
  });
  await client.connect().catch((error: unknown) => {
    throw reason ?? error;
  });
}
