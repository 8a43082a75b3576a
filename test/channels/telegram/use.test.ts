import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTelegramUse } from '../../../src/channels/telegram/use.ts';
import type { PrismaClient } from '../../../src/generated/prisma/client.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => vi.useRealTimers());

function createUse(used: boolean) {
  const find = vi.fn(async () => [{ used }]);
  const prisma = { $queryRaw: find } as unknown as PrismaClient;
  return { ...createTelegramUse({ prisma }), statements: () => find.mock.calls.length };
}

test('an unused channel costs one statement in 5 seconds, whatever the number of its tasks', async () => {
  const { isUsed, statements } = createUse(false);
  for (let task = 0; task < 10; task += 1) expect(await isUsed()).toBe(false);
  expect(statements()).toBe(1);
  vi.advanceTimersByTime(5_001);
  await Promise.all([isUsed(), isUsed(), isUsed()]);
  expect(statements()).toBe(2);
});

test('a notification makes the next task look anew, unless the channel is known to be used', async () => {
  const unused = createUse(false);
  await unused.isUsed();
  unused.changed();
  await unused.isUsed();
  expect(unused.statements()).toBe(2);

  const used = createUse(true);
  await used.isUsed();
  used.changed();
  expect(await used.isUsed()).toBe(true);
  expect(used.statements()).toBe(1);
});
