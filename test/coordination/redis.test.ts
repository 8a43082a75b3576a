import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { createServer } from 'node:tls';
import { describe, expect, inject, test } from 'vitest';
import { createPubSub, createRedisPubSub, type PubSub } from '../../src/coordination/pubsub.ts';
import { openRedis } from '../../src/coordination/redis.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { linkRedis } from '../helpers/redis.ts';

const redisUrl = inject('redisUrl');

/** A certificate of `localhost` that signs itself, and its key. */
const CERTIFICATE = readFileSync('test/fixtures/self-signed.pem', 'utf8');

/** The real Redis behind TLS. @returns its `rediss://` URL. */
async function startTls(): Promise<string> {
  const target = new URL(redisUrl);
  const server = createServer({ cert: CERTIFICATE, key: CERTIFICATE }, (near) => {
    const far = connect(Number(target.port || 6379), target.hostname);
    near.pipe(far).pipe(near);
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atTheEnd(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return Object.assign(new URL(target.href.replace(/^redis:/, 'rediss:')), {
    hostname: '127.0.0.1',
    port: String(port),
  }).href;
}

/** Publishes until the message arrives, because a new subscription takes a moment to reach the server. */
async function reaches(from: PubSub, to: PubSub, channel: string): Promise<string> {
  const received = Promise.withResolvers<string>();
  const end = to.subscribe(channel, received.resolve);
  const again = setInterval(() => from.publish(channel, 'hello there'), 5);
  return received.promise.finally(() => {
    clearInterval(again);
    end();
  });
}

describe('messages within one process', () => {
  test('reach the subscribers of their channel until these unsubscribe', () => {
    const pubsub = createPubSub();
    const received: string[] = [];
    const end = pubsub.subscribe('a', (message) => received.push(message));
    pubsub.publish('a', 'one');
    pubsub.publish('b', 'not for us');
    end();
    pubsub.publish('a', 'too late');
    expect(received).toEqual(['one']);
  });
});

describe('Redis', () => {
  test('that is unavailable prevents the start, and its password is not logged', async () => {
    const opening = openRedis('redis://:hunter2@127.0.0.1:1/0', 'parley:test:');
    await expect(opening).rejects.toThrow(
      /^REDIS_URL: cannot use the server at 127\.0\.0\.1:1: .*ECONNREFUSED/,
    );
    await expect(opening).rejects.not.toThrow(/hunter2/);
  });

  test.skipIf(!redisUrl)(
    'has a second for each command, also after a connection that took longer',
    async () => {
      const redis = await openRedis(redisUrl, 'parley:test:');
      for (const { options } of [redis.client, redis.subscriber])
        expect(options).toMatchObject({ commandTimeout: 1_000, socketTimeout: 1_000 });
      await redis.close();
    },
  );

  test.skipIf(!redisUrl)('that refuses the credentials prevents the start', async () => {
    const url = Object.assign(new URL(redisUrl), { username: 'nobody', password: 'hunter2' });
    const opening = openRedis(url.href, 'parley:test:');
    await expect(opening).rejects.toThrow(/^REDIS_URL: .*WRONGPASS/);
    await expect(opening).rejects.not.toThrow(/hunter2/);
  });

  test.skipIf(!redisUrl)(
    'takes TLS with a certificate of REDIS_CA_FILE, and only then',
    async () => {
      const url = await startTls();
      const redis = await openRedis(url, 'parley:test:', { ca: CERTIFICATE });
      // The second that a command has is shorter than a pause of a busy machine.
      for (const { options } of [redis.client, redis.subscriber])
        Object.assign(options, { commandTimeout: 240_000, socketTimeout: 240_000 });
      await redis.ping();
      await redis.close();
      await expect(openRedis(url, 'parley:test:')).rejects.toThrow(/^REDIS_URL: .*certificate/);
    },
  );

  test.skipIf(!redisUrl)('outages and reconnections are logged, once each', async () => {
    const { redis, cut, restore } = await linkRedis();
    const lines: string[] = [];
    const log = (_fields: object, message: string) => lines.push(message);
    redis.logTo({ warn: log, error: log });
    await redis.ping();
    await cut();
    await expect(redis.ping()).rejects.toThrow();
    await expect(redis.ping()).rejects.toThrow();
    await restore();
    await redis.ping();
    await redis.close();
    expect(lines).toEqual([
      'Redis connection lost. This process continues without Redis.',
      'Redis connection restored.',
    ]);
  });
});

describe.skipIf(!redisUrl)('messages between replicas', () => {
  test('reach the other replica, and local subscribers once', async () => {
    const [one, other] = await Promise.all([linkRedis(), linkRedis()]);
    const [near, far] = [createRedisPubSub(one.redis), createRedisPubSub(other.redis)];
    expect(await reaches(near, far, 'greeting')).toBe('hello there');

    const received: string[] = [];
    near.subscribe('greeting', (message) => received.push(message));
    near.publish('greeting', 'mine');
    expect(received).toEqual(['mine']);
    // An echo would have arrived before a later message of the other replica.
    const answered = Promise.withResolvers<string>();
    near.subscribe('greeting', (message) => message === 'yours' && answered.resolve(message));
    await reaches(far, near, 'any');
    far.publish('greeting', 'yours');
    await answered.promise;
    expect(received).toEqual(['mine', 'yours']);
  });

  test('of one moment reach the other replica in their order, each on its channel', async () => {
    const [one, other] = await Promise.all([linkRedis(), linkRedis()]);
    const [near, far] = [createRedisPubSub(one.redis), createRedisPubSub(other.redis)];
    const received: string[] = [];
    const ended = Promise.withResolvers<void>();
    far.subscribe('first', (message) => received.push(`first ${message}`));
    far.subscribe('second', (message) => {
      received.push(`second ${message}`);
      if (message === 'end') ended.resolve();
    });
    await reaches(near, far, 'any');
    // More than one command takes.
    for (let number = 0; number < 1_500; number += 1)
      near.publish(number % 2 ? 'second' : 'first', String(number));
    near.publish('second', 'end');
    await ended.promise;
    const sent = Array.from({ length: 1_500 }, (_, n) => `${n % 2 ? 'second' : 'first'} ${n}`);
    expect(received).toEqual([...sent, 'second end']);
  });

  test('reach the other replica even if this process exits right after them', async () => {
    const [one, other] = await Promise.all([linkRedis(), linkRedis()]);
    const [near, far] = [createRedisPubSub(one.redis), createRedisPubSub(other.redis)];
    await reaches(near, far, 'any');
    const received: string[] = [];
    far.subscribe('last', (message) => received.push(message));
    const ended = Promise.withResolvers<string>();
    far.subscribe('end', ended.resolve);
    await reaches(near, far, 'later');
    near.publish('last', 'word');
    await near.flush();
    await one.redis.close();
    const third = await linkRedis();
    const later = createRedisPubSub(third.redis);
    later.publish('end', 'of it');
    await ended.promise;
    expect(received).toEqual(['word']);
  });

  test('reach local subscribers while Redis is down', async () => {
    const { redis, cut } = await linkRedis();
    const pubsub = createRedisPubSub(redis);
    await cut();
    const received: string[] = [];
    pubsub.subscribe('greeting', (message) => received.push(message));
    pubsub.publish('greeting', 'alone');
    expect(received).toEqual(['alone']);
  });

  test('arrive again after an outage, also on channels subscribed during it', async () => {
    const [one, other] = await Promise.all([linkRedis(), linkRedis()]);
    const [near, far] = [createRedisPubSub(one.redis), createRedisPubSub(other.redis)];
    const before = Promise.withResolvers<string>();
    const during = Promise.withResolvers<string>();
    far.subscribe('before', before.resolve);
    await other.cut();
    far.subscribe('during', during.resolve);
    await other.restore();
    const again = setInterval(() => {
      near.publish('before', 'one');
      near.publish('during', 'two');
    }, 5);
    expect(await Promise.all([before.promise, during.promise])).toEqual(['one', 'two']);
    clearInterval(again);
  });

  test('are no longer received after the last unsubscribe', async () => {
    const [one, other] = await Promise.all([linkRedis(), linkRedis()]);
    const [near, far] = [createRedisPubSub(one.redis), createRedisPubSub(other.redis)];
    const received: string[] = [];
    const end = far.subscribe('quiet', (message) => received.push(message));
    await reaches(near, far, 'quiet');
    end();
    end();
    received.length = 0;
    near.publish('quiet', 'no subscriber');
    await reaches(near, far, 'later');
    expect(received).toEqual([]);
    expect(await one.redis.client.pubsub('NUMSUB', `${one.redis.prefix}quiet`)).toEqual([
      `${one.redis.prefix}quiet`,
      0,
    ]);
  });
});
