import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLooks, LOOK_EVERY_MS, type Look, wakeWhile } from '../../src/coordination/looks.ts';
import { createPubSub } from '../../src/coordination/pubsub.ts';
import { Prisma } from '../../src/generated/prisma/client.ts';
import type { Sql } from '../../src/storage/sql.ts';
import { testDatabase } from '../helpers/database.ts';

const { sql } = await testDatabase();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => vi.useRealTimers());

function openLooks(...added: (Pick<Look, 'onAnswer'> & Partial<Look>)[]) {
  const counted = vi.fn(sql);
  const error = vi.fn();
  const looks = createLooks({ sql: counted as Sql, owner: { id: () => 'own_1' }, log: { error } });
  for (const look of added)
    looks.add({ what: 'The work', condition: Prisma.sql`requested.id = 'own_1'`, ...look });
  return { ...looks, statements: () => counted.mock.calls.length, sql: counted, error };
}

test('all questions are one statement, at once and every 4 seconds', async () => {
  const [first, second] = [vi.fn(), vi.fn()];
  const { start, statements } = openLooks(
    { onAnswer: first },
    {
      onAnswer: second,
      condition: Prisma.sql`EXISTS (SELECT 1 FROM owners WHERE id = 'own_none')`,
    },
  );
  await using _looks = start();
  await expect.poll(() => first.mock.calls.length).toBe(1);
  expect([first.mock.lastCall?.[0], second.mock.lastCall?.[0]]).toEqual([true, false]);
  vi.advanceTimersByTime(LOOK_EVERY_MS);
  await expect.poll(() => second.mock.calls.length).toBe(2);
  expect(statements()).toBe(2);
});

test('a look that is asked for during another one begins after it, once for all who ask', async () => {
  const { now, statements } = openLooks({ onAnswer: () => {} });
  await Promise.all([now(), now(), now()]);
  expect(statements()).toBe(2);
  await now();
  expect(statements()).toBe(3);
});

test('a task that still works on an answer gets no other one, and does not hold up the other tasks', async () => {
  const work = Promise.withResolvers<void>();
  const [slow, quick] = [vi.fn(() => work.promise), vi.fn()];
  const { now } = openLooks({ onAnswer: slow }, { onAnswer: quick });
  await now();
  await now();
  expect([slow.mock.calls.length, quick.mock.calls.length]).toEqual([1, 2]);
  work.resolve();
  await work.promise;
  await now();
  expect(slow.mock.calls.length).toBe(2);
});

test('a failure is logged, and the next look follows', async () => {
  const onAnswer = vi.fn(() => Promise.reject(new Error('The work is hard.')));
  const { now, error, sql } = openLooks({ onAnswer });
  await now();
  await expect.poll(() => error.mock.lastCall?.[1]).toBe('The work failed. It will be retried.');
  sql.mockRejectedValueOnce(new Error('connect ECONNREFUSED'));
  await now();
  expect(error.mock.lastCall?.[1]).toBe('The look for work failed. It will be retried.');
  await now();
  await expect.poll(() => onAnswer.mock.calls.length).toBe(2);
});

test('the disposal waits for the work, and no further work begins', async () => {
  const work = Promise.withResolvers<void>();
  const onAnswer = vi.fn((_isTrue: boolean, signal: AbortSignal) => {
    signal.addEventListener('abort', () => work.resolve());
    return work.promise;
  });
  const { start, now, statements } = openLooks({ onAnswer });
  const looking = start();
  await expect.poll(() => onAnswer.mock.calls.length).toBe(1);
  await looking[Symbol.asyncDispose]();
  await now();
  expect([onAnswer.mock.calls.length, statements()]).toEqual([1, 1]);
});

test('a condition has no parameters', () => {
  const condition = Prisma.sql`${1} = 1`;
  expect(() => openLooks({ onAnswer: () => {}, condition })).toThrow('The work has parameters.');
});

test('workers are woken while there is work', async () => {
  const pubsub = createPubSub();
  const woken = vi.fn();
  pubsub.subscribe('work', woken);
  for (const condition of [Prisma.sql`false`, Prisma.sql`true`]) {
    const { now } = openLooks(wakeWhile({ what: 'The start', condition, pubsub, channel: 'work' }));
    await now();
  }
  expect(woken).toHaveBeenCalledOnce();
});
