import { Redis as Client, type RedisOptions } from 'ioredis';
import { StartupError } from '../errors.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../log.ts';

/** What the replicas of one installation share for a while. Nothing that must last is kept here. */
export type Redis = {
  /** Commands fail at once while the server is away, and after a second where it is silent. */
  client: Client;
  /** The connection that hears of what is published. */
  subscriber: Client;
  /** What every key and every channel of this installation begins with. */
  prefix: string;
  /** From now on, says when the server has gone, once, and when it is back. */
  logTo(log: Log): void;
  /** One round trip to the server; rejects when it cannot be reached. */
  ping(): Promise<void>;
  /** Sends what is under way, for a second at most, and hangs up. */
  close(): Promise<void>;
};

const TIMEOUT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 5_000;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Nothing waits for a server that is away, and nothing is sent twice: a request that was counted would count
 * again. A silent server is taken for one that is away until it answers again.
 */
const OPTIONS: RedisOptions = {
  lazyConnect: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  commandTimeout: TIMEOUT_MS,
  socketTimeout: TIMEOUT_MS,
  enableOfflineQueue: false,
  // What is asked in the same moment leaves in one write.
  enableAutoPipelining: true,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  autoResubscribe: false,
  retryStrategy: (times) => Math.min(times * 100, LONGEST_PAUSE_MS),
};

/**
 * Connects to Redis.
 *
 * @param url `redis://…` or `rediss://…`; may hold a password, which no message repeats.
 * @param prefix as `redisPrefix` has it.
 * @throws StartupError when the server is not there, or does not let us in.
 */
export async function openRedis(url: string, prefix: string): Promise<Redis> {
  const client = new Client(url, OPTIONS);
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
  let closing = false;
  return {
    client,
    subscriber,
    prefix,
    logTo(log) {
      let away = false;
      client.on('close', () => {
        if (!away && !closing) log.error({}, 'Redis is away. This process goes on by itself.');
        away = true;
      });
      client.on('ready', () => {
        if (away) log.warn({}, 'Redis is back.');
        away = false;
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
 * Tells installations on one Redis apart, and is the same for all replicas of one: the id of the database's
 * first migration, which no other database has.
 */
export async function redisPrefix(prisma: PrismaClient): Promise<string> {
  const [first] = await prisma.$queryRaw<{ id: string }[]>`
    SELECT id FROM _prisma_migrations ORDER BY started_at, id LIMIT 1`;
  if (!first) throw new Error('The database has no migrations.');
  return `parley:${first.id}:`;
}

/** Connects for the first time. @throws what the server, or the way to it, says. */
async function connect(client: Client): Promise<void> {
  // The library's own promise may only say that the connection was closed.
  let reason: unknown;
  client.on('error', (error) => {
    reason = error;
  });
  await client.connect().catch((error: unknown) => {
    throw reason ?? error;
  });
}
