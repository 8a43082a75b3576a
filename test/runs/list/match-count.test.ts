import { beforeAll, expect, test } from 'vitest';
import type { RunFilter } from '../../../src/runs/list/filter.ts';
import { MAX_READ } from '../../../src/runs/list/match-count.ts';
import { makeId } from '../../../src/text/ids.ts';
import { MAX_COUNTED_RUNS } from '../../../src/vocabulary/run-counts.ts';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { makeRuns } from '../../helpers/runs.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

/** Stores completed runs of one moment that took a second, the last of them in staging. */
const storeMany = (botId: string, count: number, staging: number) =>
  app.prisma.$executeRaw`
    INSERT INTO runs (id, bot_id, environment, kind, channel, input, owner_id, status, latency_ms)
    SELECT ${makeId('run')} || number, ${botId},
      (CASE WHEN number <= ${staging} THEN 'STAGING' ELSE 'PRODUCTION' END)::"Environment",
      'CHAT', 'API', 'Hi', ${makeId('own')}, 'COMPLETED', 1000
    FROM generate_series(1, ${count}::int) AS number`;

const counts = async (botIds: string[], filters: Record<string, RunFilter>) => {
  const fields = Object.keys(filters).map((name) => `${name}: runCount(filter: $${name})`);
  const variables = Object.keys(filters).map((name) => `$${name}: RunFilter`);
  const { data, errors } = await tenant.graphql(
    `query ($ids: [ID!]!, ${variables}) { nodes(ids: $ids) { ... on Bot { ${fields} } } }`,
    { ids: botIds, ...filters },
  );
  expect(errors).toBeUndefined();
  return data.nodes;
};

test('runs of several bots are counted for several filters, with ratings', async () => {
  const bots = [await tenant.bot(null), await tenant.bot(null), await tenant.bot(null)];
  const [bot = '', other = ''] = bots;
  const day = '2026-03-01';
  const at = { createdAt: new Date(`${day}T12:00:00Z`) };
  const made = await makeRuns(app, bot, [
    { ...at, status: 'FAILED' },
    { ...at, latencyMs: 5_000 },
    { ...at, latencyMs: 4_999, environment: 'STAGING' },
    { ...at, kind: 'DRAFT' },
    {},
  ]);
  await makeRuns(app, other, [at]);
  await app.prisma.feedback.createMany({
    data: made.slice(0, 4).flatMap(({ id: runId, createdAt: runCreatedAt }, index) =>
      ['one', 'another'].map((author) => {
        const rating = index === 0 ? ('UP' as const) : ('DOWN' as const);
        return { runId, author, botId: bot, rating, runCreatedAt };
      }),
    ),
  });
  const counted = await counts(bots, {
    all: {},
    day: { date: day },
    failed: { status: ['FAILED'], date: day },
    slow: { minLatencyMs: 5_000, date: day },
    bad: { feedback: 'DOWN', date: day },
    badInStaging: { feedback: 'DOWN', environment: 'STAGING' },
    badDrafts: { feedback: 'DOWN', kind: 'DRAFT' },
    searched: { text: 'Hi' },
  });
  const none = { failed: 0, slow: 0, bad: 0, badInStaging: 0, badDrafts: 0, searched: null };
  expect(counted).toEqual([
    { all: 4, day: 3, failed: 1, slow: 1, bad: 2, badInStaging: 1, badDrafts: 1, searched: null },
    { all: 1, day: 1, ...none },
    { all: 0, day: 0, ...none },
  ]);
});

test('a count ends after a bounded number of runs', async () => {
  const [few, many] = [await tenant.bot(null), await tenant.bot(null)];
  await storeMany(few, MAX_READ - 1, MAX_COUNTED_RUNS - 1);
  await storeMany(many, MAX_READ + 1, MAX_COUNTED_RUNS - 1);
  const counted = await counts([few, many], {
    all: {},
    staging: { environment: 'STAGING' },
    slow: { minLatencyMs: 1_000 },
    // The index of the latency does not select the environment.
    slowInStaging: { minLatencyMs: 1_000, environment: 'STAGING' },
    none: { minLatencyMs: 1_001, environment: 'STAGING' },
  });
  const both = {
    all: MAX_COUNTED_RUNS,
    staging: MAX_COUNTED_RUNS - 1,
    slow: MAX_COUNTED_RUNS,
    none: 0,
  };
  expect(counted).toEqual([
    { ...both, slowInStaging: MAX_COUNTED_RUNS - 1 },
    { ...both, slowInStaging: null },
  ]);
});
