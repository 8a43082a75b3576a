import { beforeAll, expect, test } from 'vitest';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { measureRows, valueAt } from '../../src/storage/measured-rows.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { makeRuns } from '../helpers/runs.ts';

const MIB = 1024 * 1024;
const TABLE = Prisma.sql`runs`;
const INPUT = Prisma.sql`octet_length(input)`;

let app: TestApp;
let ids: string[];
beforeAll(async () => {
  app = await startApp();
  const tenant = await app.tenant();
  const bot = await tenant.bot(null);
  const sizes = [MIB, 10, MIB - 9, 5 * MIB, 1];
  await makeRuns(
    app,
    bot,
    sizes.map((size, index) => ({
      input: 'x'.repeat(size),
      createdAt: new Date(Date.UTC(2026, 0, 1 + index)),
    })),
  );
  const runs = await app.prisma.run.findMany({
    where: { botId: bot },
    orderBy: { createdAt: 'asc' },
    select: { id: true },
  });
  ids = runs.map(({ id }) => id);
});

const measure = (rows: string[], bytes = INPUT) =>
  measureRows(app.prisma, { table: TABLE, ids: rows, bytes });

test('one statement measures rows in their order until they have 2 MiB', async () => {
  expect(await measure(ids)).toEqual([MIB, 10, MIB - 9]);
  expect(await measure(ids.slice(3))).toEqual([5 * MIB]);
  expect(await measure(ids.slice(4))).toEqual([1]);
  expect(await measure([])).toEqual([]);
});

test('a row that does not exist has no bytes', async () => {
  const [, second = ''] = ids;
  expect(await measure(['run_absent', second, 'run_absent'])).toEqual([0, 10, 0]);
});

test('each row has its own value of an array', async () => {
  const bytes = Prisma.sql`${INPUT} * ${valueAt([2, 3])}`;
  expect(await measure([ids[1] ?? '', ids[4] ?? ''], bytes)).toEqual([20, 3]);
});

test('one statement measures at most 500 rows', async () => {
  expect(await measure(Array(501).fill('run_absent'))).toHaveLength(500);
});
