import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startApp } from '../helpers/app.ts';
import { migratedDatabase } from '../helpers/database.ts';
import { recordStatements } from '../helpers/statements.ts';

const MEASURED_S = 60;
const MOST_INTERVALS = 10;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => vi.useRealTimers());

/** Counts the statements of an app without requests, and the intervals that it keeps, after its start. */
async function countIdle(isExclusive: boolean) {
  const database = await migratedDatabase(`idle_${isExclusive}`);
  const log = recordStatements();
  const app = await startApp({ database: { ...database, isExclusive } });
  const statements = () => log.texts().filter((text) => !text.includes('pg_is_in_recovery'));
  await expect.poll(() => statements().some((text) => text.includes('run_totals'))).toBe(true);
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      await vi.advanceTimersByTimeAsync(1_000);
      // A round trip, so that the statements of this second end before the next one.
      await database.ping();
    }
  };
  await pass(20);
  log.clear();
  await pass(MEASURED_S);
  const counts = { statements: statements().length, intervals: vi.getTimerCount() };
  await app.close();
  return counts;
}

test('a process without work executes less than one statement a second, and keeps few intervals', async () => {
  const { statements, intervals } = await countIdle(false);
  expect(statements).toBeLessThan(MEASURED_S);
  // Those of docs/architecture.md. The others have stopped: nothing runs, and no client follows a stream.
  expect(intervals).toBeLessThanOrEqual(MOST_INTERVALS);
});

test('a process that has the database alone stores no heartbeats', async () => {
  const { statements, intervals } = await countIdle(true);
  expect(statements).toBeLessThan(MEASURED_S / 2);
  expect(intervals).toBeLessThan(MOST_INTERVALS);
});
