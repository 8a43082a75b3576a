import { describe, expect, inject, test } from 'vitest';
import { createPubSub, createRedisPubSub, type PubSub } from '../../src/coordination/pubsub.ts';
import { openRedis } from '../../src/coordination/redis.ts';
import { objectCounts } from '../helpers/leaks.ts';
import { linkRedis } from '../helpers/redis.ts';

const redisUrl = inject('redisUrl');

/** Publishes until the word arrives: a new subscription takes a moment to get to the server. */
async function reaches(from: PubSub, to: PubSub, channel: string): Promise<string> {
  const heard = Promise.withResolvers<string>();
  const end = to.subscribe(channel, heard.resolve);
  const again = setInterval(() => from.publish(channel, 'hello there'), 5);
  return heard.promise.finally(() => {
    clearInterval(again);
    end();
  });
}

describe('words within one process', () => {
  test('reach those who listen to the channel, until they no longer do', () => {
    const pubsub = createPubSub();
    const heard: string[] = [];
    const end = pubsub.subscribe('a', (message) => heard.push(message));
    pubsub.publish('a', 'one');
    pubsub.publish('b', 'not for us');
    end();
    pubsub.publish('a', 'too late');
    expect(heard).toEqual(['one']);
  });
});

describe('Redis', () => {
  test('that is not there stops the start, and no password is repeated', async () => {
    const opening = openRedis('redis://:hunter2@127.0.0.1:1/0', 'parley:test:');
    await expect(opening).rejects.toThrow(
      /^REDIS_URL: cannot use the server at 127\.0\.0\.1:1: .*ECONNREFUSED/,
    );
    await expect(opening).rejects.not.toThrow(/hunter2/);
  });

  test.skipIf(!redisUrl)('that does not let us in stops the start', async () => {
    const url = Object.assign(new URL(redisUrl), { username: 'nobody', password: 'hunter2' });
    const opening = openRedis(url.href, 'parley:test:');
    await expect(opening).rejects.toThrow(/^REDIS_URL: .*WRONGPASS/);
    await expect(opening).rejects.not.toThrow(/hunter2/);
  });

  test.skipIf(!redisUrl)('is missed and welcomed back on the log, once each', async () => {
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

describe.skipIf(!redisUrl)('words between replicas', () => {
  test('reach the other one, and its own listeners once', async () => {
    const [one, other] = await Promise.all([linkRedis(), linkRedis()]);
    const [near, far] = [createRedisPubSub(one.redis), createRedisPubSub(other.redis)];
    expect(await reaches(near, far, 'greeting')).toBe('hello there');

    const heard: string[] = [];
    near.subscribe('greeting', (message) => heard.push(message));
    near.publish('greeting', 'mine');
    expect(heard).toEqual(['mine']);
    // By the time that a later word comes back from the other replica, an echo would have arrived.
    const answered = Promise.withResolvers<string>();
    near.subscribe('greeting', (message) => message === 'yours' && answered.resolve(message));
    await reaches(far, near, 'any');
    far.publish('greeting', 'yours');
    await answered.promise;
    expect(heard).toEqual(['mine', 'yours']);
  });

  test('reach the other one also where this process ends right after them', async () => {
    const [one, other] = await Promise.all([linkRedis(), linkRedis()]);
    const [near, far] = [createRedisPubSub(one.redis), createRedisPubSub(other.redis)];
    await reaches(near, far, 'any');
    const heard: string[] = [];
    far.subscribe('last', (message) => heard.push(message));
    const ended = Promise.withResolvers<string>();
    far.subscribe('end', ended.resolve);
    await reaches(near, far, 'later');
    near.publish('last', 'word');
    await near.flush();
    await one.redis.close();
    const third = await linkRedis();
    const witness = createRedisPubSub(third.redis);
    witness.publish('end', 'of it');
    await ended.promise;
    expect(heard).toEqual(['word']);
  });

  test('leave nothing behind', async () => {
    const { redis } = await linkRedis();
    const pubsub = createRedisPubSub(redis);
    const send = async (words: number) => {
      for (let sent = 0; sent < words; sent += 1) {
        pubsub.publish('many', 'word');
        await pubsub.flush();
      }
    };
    await send(100);
    const before = await objectCounts();
    await send(2_000);
    const after = await objectCounts();
    // A message that stays behind holds more than 100 bytes.
    expect(after.heapBytes - before.heapBytes).toBeLessThan(100_000);
  });

  test('reach listeners of this process also while Redis is away', async () => {
    const { redis, cut } = await linkRedis();
    const pubsub = createRedisPubSub(redis);
    await cut();
    const heard: string[] = [];
    pubsub.subscribe('greeting', (message) => heard.push(message));
    pubsub.publish('greeting', 'alone');
    expect(heard).toEqual(['alone']);
  });

  test('are heard again after an outage, also by who began to listen during it', async () => {
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

  test('end with their last listener', async () => {
    const [one, other] = await Promise.all([linkRedis(), linkRedis()]);
    const [near, far] = [createRedisPubSub(one.redis), createRedisPubSub(other.redis)];
    const heard: string[] = [];
    const end = far.subscribe('quiet', (message) => heard.push(message));
    await reaches(near, far, 'quiet');
    end();
    end();
    heard.length = 0;
    near.publish('quiet', 'nobody listens');
    await reaches(near, far, 'later');
    expect(heard).toEqual([]);
    expect(await one.redis.client.pubsub('NUMSUB', `${one.redis.prefix}quiet`)).toEqual([
      `${one.redis.prefix}quiet`,
      0,
    ]);
  });
});
