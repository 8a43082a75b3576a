import { afterEach, expect, test, vi } from 'vitest';
import { persist } from '../../src/storage/persist.ts';

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
