import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, inject } from 'vitest';
import { openRedis, type Redis, redisPrefix } from '../../src/coordination/redis.ts';
import { atTheEnd } from './at-the-end.ts';
import { testDatabase } from './database.ts';

/** The real Redis, behind a loopback proxy that a test can close. */
export type RedisLink = {
  redis: Redis;
  /** Disconnects only this replica from Redis. Resolves when the replica has noticed. */
  cut(): Promise<void>;
  /** Restores the connection. Resolves when the replica is connected again. */
  restore(): Promise<void>;
};

/**
 * The prefix of the keys of one test, or of a file outside its tests. Requests without a valid key count against their
 * address, which all tests have in common.
 */
async function testPrefix(): Promise<string> {
  const { testPath, currentTestName = '' } = expect.getState();
  const { prisma } = await testDatabase();
  // All workers copy one database, so its own prefix is the same in each of them.
  return `${await redisPrefix(prisma)}${process.pid}:${testPath}:${currentTestName}:`;
}

/** The second that a command has is shorter than a pause of a busy machine. Without an answer, replicas count by themselves. */
const LONG_LIMITS = { commandTimeout: 240_000, socketTimeout: 240_000 };

/** Connects a replica of a test's app to Redis, until the end of the test. All replicas of a test share its keys. */
export async function linkRedis(): Promise<RedisLink> {
  const target = new URL(inject('redisUrl'));
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port || 6379), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const url = Object.assign(new URL(target), { hostname: '127.0.0.1', port: String(port) });
  const redis = await openRedis(url.href, await testPrefix());
  const connections = [redis.client, redis.subscriber];
  for (const { options } of connections) Object.assign(options, LONG_LIMITS);
  // Unlike `once` of node:events, this does not reject on an `error` event.
  const event = (name: string) => (client: Redis['client']) =>
    new Promise((resolve) => client.once(name, resolve));
  atTheEnd(async () => {
    await redis.close();
    server.close();
  });
  return {
    redis,
    cut: async () => {
      const closed = connections.map(event('close'));
      server.close();
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
    },
    restore: async () => {
      const ready = connections.map(event('ready'));
      await listen(port);
      await Promise.all(ready);
    },
  };
}
