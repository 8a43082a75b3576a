import { beforeAll, describe, expect, inject, test } from 'vitest';
import { BEGIN, END, PROGRESS } from '../../../src/runs/life/statements.ts';
import { setLocal } from '../../../src/storage/set-local.ts';
import { BY_INDEX, statement } from '../../../src/storage/sql.ts';
import { makeId } from '../../../src/text/ids.ts';
import { testDatabase } from '../../helpers/database.ts';

const { prisma, sql } = await testDatabase();

/** The number of ended runs in the table, which the statements must not scan. */
const DONE = 20_000;

type Plan = {
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Node Type': string;
  Plans?: Plan[];
};

type Explained = { 'QUERY PLAN': [{ Plan: Plan }] };

/** Explains a statement as `sql` plans it. Only PostgreSQL's `sql` also executes what cannot be prepared. */
const explain = async (text: string): Promise<Explained[]> => {
  if (inject('databaseUrl')) return sql(statement(text), []);
  return prisma.$transaction(async (transaction) => {
    for (const setting of setLocal(BY_INDEX).split('; '))
      await transaction.$executeRawUnsafe(setting);
    return transaction.$queryRawUnsafe(text);
  });
};

/** The scans of tables in a statement's plan. */
const scansOf = async (text: string, parameters: object) => {
  const json = JSON.stringify([parameters]);
  const [row] = await explain(`EXPLAIN (FORMAT JSON) ${text.replace('$1', `'${json}'`)}`);
  return row ? scansIn(row['QUERY PLAN'][0].Plan) : [];
};

const scansIn = (plan: Plan): Plan[] => [
  ...(/^(Seq|Index|Index Only|Bitmap Index) Scan$/.test(plan['Node Type']) ? [plan] : []),
  ...(plan.Plans ?? []).flatMap(scansIn),
];

describe('the statements of every chat', () => {
  const ownerId = makeId('own');
  const key = makeId('run');
  const parameters = {
    key,
    ownerId,
    attempt: 1,
    status: 'COMPLETED',
    requiresTurn: true,
    toolsCalled: [],
  };

  // A connection keeps its plans while tables grow.
  test.each([
    ['begins a run', BEGIN],
    ['stores a checkpoint', PROGRESS],
    ['ends a run', END],
  ])(
    'scan no whole table, even if planned for empty tables: the one that %s',
    async (_what, { text }) => {
      const scans = await scansOf(text, parameters);
      expect(scans).not.toEqual([]);
      expect(scans.filter((scan) => scan['Index Cond'] === undefined)).toEqual([]);
    },
  );

  describe('with many ended runs', () => {
    beforeAll(async () => {
      const accountId = makeId('acc');
      const botId = makeId('bot');
      await prisma.account.create({ data: { id: accountId, name: 'Tenant', plan: 'FREE' } });
      await prisma.bot.create({ data: { id: botId, accountId, name: 'Bot' } });
      await prisma.$executeRaw`
      INSERT INTO runs (id, bot_id, environment, kind, channel, input, owner_id, status, attempt)
      SELECT ${key} || number, ${botId}, 'PRODUCTION', 'CHAT', 'API', 'Hi', ${ownerId}, 'COMPLETED', 1
      FROM generate_series(1, ${DONE}) AS number`;
      await prisma.$executeRaw`ANALYZE runs`;
    });

    test.each([
      ['begins a run', BEGIN, ['runs_pkey']],
      ['stores a checkpoint', PROGRESS, ['runs_pkey']],
      ['ends a run', END, ['runs_pkey']],
    ])('find a run by its id: the one that %s', async (_what, { text }, indexes) => {
      const scans = await scansOf(text, parameters);
      expect(scans).not.toEqual([]);
      const ofRuns = scans.filter((scan) => scan['Relation Name'] === 'runs');
      expect(new Set(ofRuns.map((scan) => scan['Index Name']))).toEqual(new Set(indexes));
    });
  });
});
