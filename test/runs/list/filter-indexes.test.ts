import { beforeAll, expect, test } from 'vitest';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { branchesOf } from '../../../src/runs/list/branches.ts';
import type { RunFilter } from '../../../src/runs/list/filter.ts';
import { makeId } from '../../../src/text/ids.ts';
import { testDatabase } from '../../helpers/database.ts';

const { prisma } = await testDatabase();

const botId = makeId('bot');
/** Rows have the size of a short chat: the planner compares the sizes of the table and of its indexes. */
const CONTEXT = JSON.stringify({ text: 'x'.repeat(1_500) });
beforeAll(async () => {
  const accountId = makeId('acc');
  await prisma.account.create({ data: { id: accountId, name: 'Tenant', plan: 'FREE' } });
  await prisma.bot.create({ data: { id: botId, accountId, name: 'Bot' } });
  await prisma.$executeRaw`
    INSERT INTO runs (id, bot_id, environment, kind, channel, input, context, owner_id, status, attempt, latency_ms, prompt_tokens)
    SELECT ${makeId('run')} || number, ${botId}, 'PRODUCTION', 'CHAT', 'API', 'Hi', ${CONTEXT}::jsonb, ${makeId('own')}, 'COMPLETED', 1,
      number, number FROM generate_series(1, 20000) AS number`;
  await prisma.$executeRaw`ANALYZE runs`;
});

type Plan = {
  'Node Type': string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Relation Name'?: string;
  Plans?: Plan[];
};

const scansIn = (plan: Plan): Plan[] => [
  ...(plan['Relation Name'] === 'runs' ? [plan] : []),
  ...(plan.Plans ?? []).flatMap(scansIn),
];

/** The scans of runs in the plan of a page of the filter. */
const scansOf = async (filter: RunFilter) => {
  const branches = branchesOf(filter);
  if (!branches) throw new Error('The filter has no branches.');
  const conditions = Prisma.join([...branches.same, ...branches.rest], ' AND ');
  const [row] = await prisma.$queryRaw<{ 'QUERY PLAN': [{ Plan: Plan }] }[]>`
    EXPLAIN (FORMAT JSON) SELECT run.* FROM ${branches.rows} CROSS JOIN LATERAL (
      SELECT id, created_at FROM runs WHERE bot_id = ${botId} AND ${conditions}
      ORDER BY created_at DESC, id DESC LIMIT 51) AS run ORDER BY created_at DESC, id DESC LIMIT 51`;
  return row ? scansIn(row['QUERY PLAN'][0].Plan) : [];
};

// A page that finds few runs tests each entry from the minimum on. Each row that it reads for that takes a read of a block.
test.each([
  ['latency', { minLatencyMs: 100 }, 'runs_latency_tokens_idx'],
  ['tokens', { minTokens: 100 }, 'runs_tokens_idx'],
  ['latency and tokens', { minLatencyMs: 100, minTokens: 100 }, 'runs_latency_tokens_idx'],
  [
    'latency, tokens, status and channel',
    { minLatencyMs: 100, minTokens: 100, status: ['FAILED'], channel: ['WEB'] },
    'runs_latency_tokens_idx',
  ],
] satisfies [string, RunFilter, string][])(
  'a minimum of %s reads the index alone',
  async (_what, filter, index) => {
    expect(await scansOf(filter)).toMatchObject([
      { 'Node Type': 'Index Only Scan', 'Index Name': index },
    ]);
  },
);

test('an entrance is compared in the entries of the index, without reading the rows', async () => {
  expect(await scansOf({ entrance: ['MCP'] })).toMatchObject([
    {
      'Index Name': 'runs_enums_idx',
      'Index Cond': expect.stringContaining('entrance = branch.entrance'),
    },
  ]);
});
