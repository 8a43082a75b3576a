import { expect, test } from 'vitest';
import { createSemaphore } from '../../src/async/semaphore.ts';

test('a name has as many permits as its limit, and a released one is free again', () => {
  const { tryAcquire } = createSemaphore();
  const first = tryAcquire('a', 2);
  expect(tryAcquire('a', 2)).toBeDefined();
  expect(tryAcquire('a', 2)).toBeUndefined();
  expect(tryAcquire('b', 2)).toBeDefined();
  first?.();
  first?.();
  expect(tryAcquire('a', 2)).toBeDefined();
  expect(tryAcquire('a', 2)).toBeUndefined();
});

test('callers get a permit in their order', async () => {
  const { acquire } = createSemaphore();
  const order: number[] = [];
  const first = await acquire('a', 1);
  const others = [1, 2, 3].map(async (number) => {
    using _permit = await acquire('a', 1);
    order.push(number);
  });
  expect(order).toEqual([]);
  first();
  await Promise.all(others);
  expect(order).toEqual([1, 2, 3]);
});

test('a caller that leaves the queue takes no permit', async () => {
  const { acquire, tryAcquire } = createSemaphore();
  const first = await acquire('a', 1);
  const client = new AbortController();
  const gone = acquire('a', 1, client.signal);
  const next = acquire('a', 1);
  client.abort();
  await expect(gone).rejects.toThrow('aborted');
  first();
  (await next)();
  expect(tryAcquire('a', 1)).toBeDefined();
});

test('a permit that is given to a caller that leaves in the same moment goes to the next one', async () => {
  const { acquire } = createSemaphore();
  const first = await acquire('a', 1);
  const client = new AbortController();
  const gone = acquire('a', 1, client.signal);
  const next = acquire('a', 1);
  first();
  client.abort();
  const got = await gone.catch(() => undefined);
  got?.();
  (await next)();
});
