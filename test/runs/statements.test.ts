import { beforeAll, describe, expect, test } from 'vitest';
import { makeId } from '../../src/ids.ts';
import { BEGIN_TURN, CHECKPOINT, END } from '../../src/runs/statements.ts';
import { testDatabase } from '../helpers/database.ts';

const { prisma } = await testDatabase();

/** What a process has done before, which none of what follows is to look at. */
const DONE = 20_000;

type Plan = {
  'Relation Name'?: string;
  'Index Name'?: string;
  'Node Type': string;
  Plans?: Plan[];
};

const scansIn = (plan: Plan): Plan[] => [
  ...(plan['Node Type'].includes('Scan') ? [plan] : []),
  ...(plan.Plans ?? []).flatMap(scansIn),
];

describe('the statements of every chat', () => {
  const ownerId = makeId('own');
  const key = makeId('run');
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
    ['begins a turn', BEGIN_TURN],
    ['stores what has happened so far', CHECKPOINT],
    ['ends a run', END],
  ])('find a run by its id, however many there are: the one that %s', async (_what, { text }) => {
    const asked = [
      { key, ownerId, attempt: 1, status: 'COMPLETED', together: true, toolsCalled: [] },
    ];
    const [row] = await prisma.$queryRawUnsafe<{ 'QUERY PLAN': { Plan: Plan }[] }[]>(
      `EXPLAIN (FORMAT JSON) ${text.replace('$1', `'${JSON.stringify(asked)}'`)}`,
    );
    const scans = scansIn(row?.['QUERY PLAN'][0]?.Plan ?? { 'Node Type': '' });
    const ways = scans.flatMap((scan) =>
      scan['Relation Name'] === 'runs' ? [scan['Index Name'] ?? scan['Node Type']] : [],
    );
    expect(new Set(ways)).toEqual(new Set(text === BEGIN_TURN.text ? [] : ['runs_pkey']));
  });
});
