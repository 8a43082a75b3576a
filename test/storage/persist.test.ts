import { afterEach, expect, test, vi } from 'vitest';
import { compensateOnUnknown, persist } from '../../src/storage/persist.ts';

afterEach(() => vi.useRealTimers());

test('a required write is retried for as long as an outage lasts', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const log = { warn: () => {}, error: () => {} };
  let attempts = 0;
  let isDown = true;
  const work = async () => {
    attempts += 1;
    if (isDown) throw new Error('connect ECONNREFUSED');
  };
  await persist(work, { log, what: 'The end of a run' });
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(attempts).toBeGreaterThan(590);
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  isDown = false;
  await vi.advanceTimersByTimeAsync(60_000);
  const needed = attempts;
  expect(needed).toBeGreaterThan(650);
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect(attempts).toBe(needed);
});

test('a compensation runs again when the unknown statement can no longer arrive', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const log = { warn: () => {}, error: () => {} };
  let isDown = true;
  let undone = 0;
  const work = async () => {
    if (isDown) throw new Error('connect ECONNREFUSED');
    undone += 1;
  };
  const failing = Promise.reject(new Error('No answer.'));
  const write = compensateOnUnknown(failing, work, { log, what: 'The end of a turn' });
  const failed = expect(write).rejects.toThrow('No answer.');
  await vi.advanceTimersByTimeAsync(60_000);
  await failed;
  expect(undone).toBe(0);
  isDown = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(undone).toBe(1);
  // The longest time for which PostgreSQL may still run a statement, with a margin.
  await vi.advanceTimersByTimeAsync(30_000);
  expect(undone).toBe(1);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(undone).toBe(2);
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect(undone).toBe(2);
});
