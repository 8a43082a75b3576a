import { afterEach, expect, test, vi } from 'vitest';
import { compensateOnUnknown, persist } from '../../src/storage/persist.ts';

afterEach(() => vi.useRealTimers());

test('what must not be lost is tried again for as long as an outage lasts', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const log = { warn: () => {}, error: () => {} };
  let tries = 0;
  let isAway = true;
  const work = async () => {
    tries += 1;
    if (isAway) throw new Error('connect ECONNREFUSED');
  };
  await persist(work, { log, what: 'The end of a run' });
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(tries).toBeGreaterThan(590);
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  isAway = false;
  await vi.advanceTimersByTimeAsync(60_000);
  const needed = tries;
  expect(needed).toBeGreaterThan(650);
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect(tries).toBe(needed);
});

test('what is taken back is so once more when the statement that it undoes can no longer come', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const log = { warn: () => {}, error: () => {} };
  let isAway = true;
  let undone = 0;
  const work = async () => {
    if (isAway) throw new Error('connect ECONNREFUSED');
    undone += 1;
  };
  const failing = Promise.reject(new Error('No answer.'));
  const write = compensateOnUnknown(failing, work, { log, what: 'The end of a turn' });
  const failed = expect(write).rejects.toThrow('No answer.');
  await vi.advanceTimersByTimeAsync(60_000);
  await failed;
  expect(undone).toBe(0);
  isAway = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(undone).toBe(1);
  // As long as PostgreSQL may work on a statement, and some more.
  await vi.advanceTimersByTimeAsync(30_000);
  expect(undone).toBe(1);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(undone).toBe(2);
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect(undone).toBe(2);
});
