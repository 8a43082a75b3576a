import { Redis as Client, type RedisOptions } from 'ioredis';
import { StartupError } from '../errors.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../log.ts';

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
  /** One round trip to the server; rejects when it cannot be reached. */
  ping(): Promise<void>;
  /** Flushes pending commands for up to 1 second, then disconnects. */
  close(): Promise<void>;
};

const CONNECT_TIMEOUT_MS = 5_000;
/** The limits of a command, and of the wait for a response on the socket. */
const LIMITS = { commandTimeout: 1_000, socketTimeout: 1_000 };
/** The first connection of a process may take longer: a failed one stops the start. */
const FIRST_LIMITS = { commandTimeout: CONNECT_TIMEOUT_MS, socketTimeout: CONNECT_TIMEOUT_MS };
const LONGEST_PAUSE_MS = 2_000;

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
  retryStrategy: (times) => Math.min(times * 100, LONGEST_PAUSE_MS),
};

/**
 * Connects to Redis.
 *
 * @param url `redis://…` or `rediss://…`. It may contain a password, which no error message shows.
 * @param prefix from `redisPrefix`.
 * @throws StartupError if the server is unreachable or rejects the credentials.
 */
export async function openRedis(url: string, prefix: string): Promise<Redis> {
  const client = new Client(url, { ...OPTIONS, ...FIRST_LIMITS });
  const subscriber = client.duplicate();
  const disconnect = () => {
    client.disconnect();
    subscriber.disconnect();
  };
  await Promise.all([connect(client), connect(subscriber)]).catch((error: Error) => {
    disconnect();
    throw new StartupError(
      `REDIS_URL: cannot use the server at ${new URL(url).host}: ${error.message}. Is it running, and is the password right?`,
      { cause: error },
    );
  });
  for (const { options } of [client, subscriber]) Object.assign(options, LIMITS);
  let closing = false;
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
    ping: async () => {
      await client.ping();
    },
    async close() {
      closing = true;
      await client.quit().catch(() => {});
      disconnect();
    },
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
