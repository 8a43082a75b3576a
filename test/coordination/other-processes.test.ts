import { expect, test } from 'vitest';
import { createOtherProcesses } from '../../src/coordination/other-processes.ts';
import { createOwner } from '../../src/coordination/worker-lease.ts';
import { migratedDatabase } from '../helpers/database.ts';

test('another process on the database is found while it lives, and logged once', async () => {
  const database = await migratedDatabase('others');
  const quiet = { warn: () => {}, error: () => {} };
  const own = await createOwner({ ...database, log: quiet, onLost: () => {} });
  const lines: string[] = [];
  const log = { ...quiet, warn: (_fields: object, line: string) => lines.push(line) };
  const others = createOtherProcesses({ ...database, owner: own, log });
  await others.check();
  expect(others.warning()).toBeUndefined();

  const other = await createOwner({ ...database, log: quiet, onLost: () => {} });
  await others.check();
  await others.check();
  expect(others.warning()).toMatch(/^Another process uses this database, but REDIS_URL is not set/);
  expect(lines).toEqual([others.warning()]);

  await other.close();
  await others.check();
  expect(others.warning()).toBeUndefined();
  await own.close();
});
