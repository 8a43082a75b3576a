import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLooks } from '../../src/coordination/looks.ts';
import { createOtherProcesses } from '../../src/coordination/other-processes.ts';
import { createOwner } from '../../src/coordination/worker-lease.ts';
import { migratedDatabase } from '../helpers/database.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => vi.useRealTimers());

test('another process on the database is found while it lives, and logged once', async () => {
  const database = await migratedDatabase('others');
  const quiet = { warn: () => {}, error: () => {} };
  const own = await createOwner({ ...database, log: quiet, onLost: () => {} });
  const lines: string[] = [];
  const log = { ...quiet, warn: (_fields: object, line: string) => lines.push(line) };
  const others = createOtherProcesses(log);
  const looks = createLooks({ ...database, owner: own, log });
  looks.add(others.look);
  vi.advanceTimersByTime(10_000);
  await looks.now();
  expect(others.warning()).toBeUndefined();

  const other = await createOwner({ ...database, log: quiet, onLost: () => {} });
  // A heartbeat that is recent until the end of the test.
  const heartbeatAt = new Date(Date.now() + 3_600_000);
  await database.prisma.owner.update({ where: { id: other.id() }, data: { heartbeatAt } });
  await looks.now();
  await looks.now();
  expect(others.warning()).toMatch(/^Another process uses this database, but REDIS_URL is not set/);
  expect(lines).toEqual([others.warning()]);

  await other.close();
  await looks.now();
  expect(others.warning()).toBeUndefined();
  await own.close();
});

test('a process that ended shortly before the start does not count', () => {
  const { look, warning } = createOtherProcesses({ warn: () => {}, error: () => {} });
  const { signal } = new AbortController();
  look.onAnswer(true, signal);
  expect(warning()).toBeUndefined();
  vi.advanceTimersByTime(10_000);
  look.onAnswer(true, signal);
  expect(warning()).toBeDefined();
});
