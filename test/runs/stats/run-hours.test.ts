import { pino } from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import type { RunStatus } from '../../../src/generated/prisma/client.ts';
import type { RunFilter } from '../../../src/runs/list/filter.ts';
import { createRunHours, type RunHours } from '../../../src/runs/stats/run-hours.ts';
import { createRunStats, type RunStats } from '../../../src/runs/stats/stats.ts';
import type { StatsQuestion } from '../../../src/runs/stats/stats-period.ts';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { testDatabase } from '../../helpers/database.ts';
import { rounds } from '../../helpers/rounds.ts';
import { type MadeRun, makeRuns } from '../../helpers/runs.ts';
import { type Random, seededRandom } from '../../helpers/seeded-random.ts';

const HOUR_MS = 60 * 60 * 1_000;
/** The runs of these tests are from these hours. */
const START = Date.parse('2026-03-01T00:00:00Z');
const HOURS = 30;
const hourOf = (ms: number) => Math.floor(ms / HOUR_MS);
const ALL = { from: START, to: START + HOURS * HOUR_MS };

let app: TestApp;
let tenant: Tenant;
let hours: RunHours;
let stats: RunStats;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  hours = createRunHours({ prisma: app.prisma, log: pino({ level: 'silent' }) });
  stats = createRunStats({ ...(await testDatabase()), runHours: { storeAll: async () => {} } });
});

const storedRuns = async (botId: string) => {
  const { _sum } = await app.prisma.runHour.aggregate({ where: { botId }, _sum: { runs: true } });
  return _sum.runs ?? 0;
};

/** Every run has a token, so the minimum selects all of them, but statistics with it use no totals. */
const ONE_BY_ONE = { minTokens: 1 };

const read = async (botId: string, question: StatsQuestion) => {
  const { from } = question;
  const days = (await stats.count([botId], question, 'day'))(botId);
  const byHour = (await stats.count([botId], question, 'hour'))(botId);
  const whole = (await stats.latencies([botId], question))(botId)(from);
  const ofDay = (await stats.latencies([botId], question, 'day'))(botId);
  const ofHour = (await stats.latencies([botId], question, 'hour'))(botId);
  const latencies = (of: typeof ofDay, parts: typeof days) =>
    parts.map(({ startedAt }) => of(startedAt)).map((each) => each && [each.p50, each.p95]);
  return {
    days,
    byHour,
    whole: whole && [whole.p50, whole.p95],
    ofDay: latencies(ofDay, days),
    ofHour: latencies(ofHour, byHour),
  };
};

const anyRun = (random: Random): Partial<MadeRun> => {
  const status = random.pick<RunStatus>(['COMPLETED', 'COMPLETED', 'FAILED', 'CANCELLED']);
  return {
    kind: random.pick(['CHAT', 'CHAT', 'EXECUTE', 'DRAFT']),
    environment: random.pick(['PRODUCTION', 'STAGING']),
    channel: random.pick(['API', 'WEB']),
    status,
    createdAt: new Date(random.int(ALL.from, ALL.to - 1)),
    latencyMs: status === 'CANCELLED' ? null : random.pick([0, 7, random.int(0, 200_000)]),
    promptTokens: random.int(1, 1_000),
  };
};

const anyQuestion = (random: Random): StatsQuestion => {
  const edge = () => {
    const exact = random.int(0, HOURS) * HOUR_MS;
    return START + random.pick([exact, exact + random.int(1, HOUR_MS)]);
  };
  const [one, other] = [edge(), edge()];
  return {
    from: new Date(Math.min(one, other)),
    to: new Date(Math.max(one, other) + 1),
    filter: random.pick<RunFilter>([
      {},
      { kind: 'DRAFT' },
      { environment: 'STAGING', channel: ['WEB'] },
      { status: ['FAILED', 'CANCELLED'] },
      { date: '2026-03-02' },
      { from: new Date(edge()) },
      { to: new Date(edge()) },
    ]),
  };
};

const expectExact = async (botId: string, question: StatsQuestion) => {
  const filter = { ...question.filter, ...ONE_BY_ONE };
  expect(await read(botId, question)).toEqual(await read(botId, { ...question, filter }));
};

describe('the totals of past hours', () => {
  test('give the same statistics as the runs after any changes in any order', async () => {
    for (let seed = 1; seed <= rounds(3, 60); seed += 1) {
      const random = seededRandom(seed);
      const botId = await tenant.bot(null);
      const runs = (count: number) =>
        makeRuns(
          app,
          botId,
          Array.from({ length: count }, () => anyRun(random)),
        );
      const ids = (await runs(150)).map(({ id }) => id);
      await hours.store({ botId, ...ALL });
      expect(await storedRuns(botId)).toBe(150);
      const changes: [() => Promise<unknown>, ...(() => Promise<unknown>)[]] = [
        async () => ids.push(...(await runs(random.int(1, 3))).map(({ id }) => id)),
        () =>
          app.prisma.run.deleteMany({
            where: { id: { in: ids.splice(random.int(0, ids.length - 3), 3) } },
          }),
        () =>
          app.prisma.run.update({
            where: { id: random.pick([ids[0] ?? '', ...ids]) },
            data: { status: 'FAILED', latencyMs: random.int(0, 100) },
          }),
        () =>
          app.prisma.run.update({
            where: { id: random.pick([ids[0] ?? '', ...ids]) },
            data: { createdAt: new Date(random.int(ALL.from, ALL.to - 1)) },
          }),
        () => hours.store({ botId, ...ALL }),
      ];
      for (let step = 0; step < 12; step += 1) {
        await random.pick(changes)();
        await expectExact(botId, anyQuestion(random));
      }
    }
  });

  test('are exact after changes during their storage', async () => {
    const random = seededRandom(7);
    const botId = await tenant.bot(null);
    const made = await makeRuns(
      app,
      botId,
      Array.from({ length: 200 }, () => anyRun(random)),
    );
    const remove = ({ id }: MadeRun) => app.prisma.run.delete({ where: { id } });
    await Promise.all([
      hours.store({ botId, ...ALL }),
      ...made.slice(0, 50).map(remove),
      hours.store({ botId, ...ALL }),
    ]);
    await expectExact(botId, { from: new Date(ALL.from), to: new Date(ALL.to) });
  });

  test('leave out hours with unfinished runs and the last two hours', async () => {
    const storeTwice = async () => {
      const botId = await tenant.bot(null);
      const now = Date.now();
      const at = (ms: number) => ({ createdAt: new Date(ms), promptTokens: 1 });
      const [waiting] = await makeRuns(app, botId, [
        { ...at(START + 1), status: 'RUNNING' },
        at(START + 2),
        at(START + HOUR_MS),
        at(now - 2 * HOUR_MS),
        at(now),
      ]);
      const store = async () => {
        await hours.store({ botId, ...ALL });
        await hours.store({ botId, from: now - 4 * HOUR_MS, to: now + 1 });
        return storedRuns(botId);
      };
      const unfinished = await store();
      const ended = { status: 'COMPLETED' as const, latencyMs: 5 };
      await app.prisma.run.update({ where: { id: waiting?.id ?? '' }, data: ended });
      const stored = [unfinished, await store()];
      return { botId, stored, isOneHour: hourOf(now) === hourOf(Date.now()) };
    };
    let outcome = await storeTwice();
    // An hour that ends meanwhile is a past one.
    while (!outcome.isOneHour) outcome = await storeTwice();
    const { botId, stored } = outcome;
    expect(stored).toEqual([1, 3]);
    await expectExact(botId, { from: new Date(START), to: new Date(START + 2 * HOUR_MS) });
  });

  test('are stored after statistics read many runs, and deleted with the bot', async () => {
    const botId = await tenant.bot(null);
    const random = seededRandom(3);
    await makeRuns(
      app,
      botId,
      Array.from({ length: 1_100 }, () => ({ ...anyRun(random), kind: 'CHAT' as const })),
    );
    let stored: Promise<void> | undefined;
    const storing = createRunStats({
      ...(await testDatabase()),
      runHours: { storeAll: (periods) => (stored = hours.storeAll(periods)) },
    });
    const question = { from: new Date(ALL.from), to: new Date(ALL.to) };
    await storing.count([botId], question, 'day');
    await stored;
    expect(await storedRuns(botId)).toBe(1_100);
    await expectExact(botId, question);
    const { errors } = await tenant.graphql('mutation ($id: ID!) { deleteBot(id: $id) }', {
      id: botId,
    });
    expect(errors).toBeUndefined();
    expect(await storedRuns(botId)).toBe(0);
  });
});
