import { expect, inject, test } from 'vitest';
import { createRedisPubSub } from '../../src/coordination/pubsub.ts';
import { heapBytes } from '../helpers/leaks.ts';
import { linkRedis } from '../helpers/redis.ts';

test.skipIf(!inject('redisUrl'))('messages between replicas leak no memory', async () => {
  const { redis } = await linkRedis();
  const pubsub = createRedisPubSub(redis);
  const send = async (count: number) => {
    for (let sent = 1; sent <= count; sent += 1) {
      pubsub.publish('many', 'word');
      if (sent % 10 === 0) await pubsub.flush();
    }
  };
  await send(1_000);
  const before = await heapBytes();
  await send(4_000);
  const after = await heapBytes();
  // 4,000 leaked messages take more than 400 kB.
  expect(after - before).toBeLessThan(300_000);
});
