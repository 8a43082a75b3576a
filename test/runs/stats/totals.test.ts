import { beforeAll, describe, expect, test } from 'vitest';
import type { RunStatus } from '../../../src/generated/prisma/client.ts';
import type { RunFilter } from '../../../src/runs/list/filter.ts';
import { type CountRuns, createCountRuns } from '../../../src/runs/stats/count-runs.ts';
import { rebuildTotals } from '../../../src/runs/stats/rebuild.ts';
import { createRunStats, type RunStats } from '../../../src/runs/stats/stats.ts';
import type { StatsQuestion, Unit } from '../../../src/runs/stats/stats-period.ts';
import type { Database } from '../../../src/storage/database.ts';
import { makeId } from '../../../src/text/ids.ts';
import { atTheEndOfFile } from '../../helpers/at-the-end.ts';
import { migratedDatabase } from '../../helpers/database.ts';
import { rounds } from '../../helpers/rounds.ts';
import { type MadeRun, makeRuns } from '../../helpers/runs.ts';
import { type Random, seededRandom } from '../../helpers/seeded-random.ts';

const HOUR_MS = 60 * 60 * 1_000;
/** The runs of these tests are from these hours. */
const START = Date.parse('2026-03-01T00:00:00Z');
const HOURS = 60;
const END = START + HOURS * HOUR_MS;
const WHOLE = { from: new Date(START), to: new Date(END) };

/** No server counts the runs of this database. */
let database: Database;
let stats: RunStats;
beforeAll(async () => {
  database = await migratedDatabase(`totals_${process.env.VITEST_POOL_ID}`);
  atTheEndOfFile(() => database.close());
  stats = createRunStats(database);
  await database.prisma.account.create({ data: { id: 'acc_totals', name: '', plan: 'PRO' } });
});

const makeBot = async () => {
  const id = makeId('bot');
  await database.prisma.bot.create({ data: { id, accountId: 'acc_totals', name: '' } });
  return id;
};
const store = (botId: string, runs: Partial<MadeRun>[]) => makeRuns(database, botId, runs);

/** Forgets all totals, and lets the counting begin at a time. */
const beginAt = async (time: number) => {
  const { prisma } = database;
  await prisma.runTotal.deleteMany();
  const at = new Date(time);
  await prisma.runTotalsRange.updateMany({ data: { countedFrom: at, countedUntil: at } });
};
/** A small batch, so that a few runs take several steps. */
const counting = (batch = 20): CountRuns => createCountRuns({ prisma: database.prisma, batch });
const countAll = () => counting(10_000).countAll(new AbortController().signal);
const rebuild = (botId: string) => rebuildTotals(database.prisma, [botId], () => {});

/** Every run has a token, so the minimum selects all of them, but statistics with it use no totals. */
const ONE_BY_ONE = { minTokens: 1 };

const read = async (botId: string, question: StatsQuestion) => {
  const reader = stats.of([botId], question);
  const countsOf = async (unit: Unit) => {
    const counts = (await reader.counts(unit))(botId);
    const none = { runs: 0, failed: 0, tokens: 0 };
    return reader.starts(unit).map((startedAt) => ({ startedAt, ...none, ...counts(startedAt) }));
  };
  const days = await countsOf('day');
  const byHour = await countsOf('hour');
  const whole = (await reader.latencies())(botId)(question.from);
  const ofDay = (await reader.latencies('day'))(botId);
  const ofHour = (await reader.latencies('hour'))(botId);
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

/** The totals give what the runs themselves give. */
const expectTrue = async (botId: string, question: StatsQuestion = WHOLE) => {
  const filter = { ...question.filter, ...ONE_BY_ONE };
  expect(await read(botId, question)).toEqual(await read(botId, { ...question, filter }));
};

const anyTime = (random: Random) => new Date(random.int(START, END - 1));
const anyRun = (random: Random): Partial<MadeRun> => {
  const status = random.pick<RunStatus>(['COMPLETED', 'COMPLETED', 'FAILED', 'RUNNING', 'QUEUED']);
  const isFinished = status === 'COMPLETED' || status === 'FAILED';
  return {
    kind: random.pick(['CHAT', 'CHAT', 'EXECUTE', 'DRAFT']),
    environment: random.pick(['PRODUCTION', 'STAGING']),
    channel: random.pick(['API', 'WEB']),
    keyId: random.pick([null, 'key_1', 'key_2']),
    status,
    createdAt: anyTime(random),
    latencyMs: isFinished ? random.pick([0, 7, random.int(0, 200_000)]) : null,
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
    to: random.pick([new Date(Math.max(one, other) + 1), new Date(END + 48 * HOUR_MS)]),
    filter: random.pick<RunFilter>([
      {},
      { kind: 'DRAFT' },
      { environment: 'STAGING', channel: ['WEB'] },
      { status: ['FAILED', 'RUNNING'] },
      { date: '2026-03-02' },
      { from: new Date(edge()) },
      { to: new Date(edge()) },
    ]),
  };
};

describe('the totals of hours and days', () => {
  test('give the same statistics as the runs after any changes, counted in any order', async () => {
    for (let seed = 1; seed <= rounds(4, 30); seed += 1) {
      const random = seededRandom(seed);
      const botId = await makeBot();
      const { prisma } = database;
      await beginAt(anyTime(random).getTime());
      const ids: string[] = [];
      const add = async (count: number) => {
        const made = await store(
          botId,
          Array.from({ length: count }, () => anyRun(random)),
        );
        ids.push(...made.map(({ id }) => id));
      };
      await add(150);
      const update = (data: object) =>
        prisma.run.update({ where: { id: random.pick([ids[0] ?? '', ...ids]) }, data });
      const changes: [() => Promise<unknown>, ...(() => Promise<unknown>)[]] = [
        () => add(random.int(1, 3)),
        () =>
          prisma.run.deleteMany({
            where: { id: { in: ids.splice(random.int(0, ids.length - 3), 3) } },
          }),
        // A run that ends long after its hour.
        () => update({ status: 'COMPLETED', latencyMs: random.int(0, 100_000) }),
        () => update({ status: 'FAILED', completionTokens: random.int(0, 9), keyId: 'key_3' }),
        () => update({ createdAt: anyTime(random) }),
        () => counting().countNext(),
        () => counting().countNext(),
        countAll,
        () => rebuild(botId),
      ];
      for (let step = 0; step < 25; step += 1) {
        await random.pick(changes)();
        await expectTrue(botId, anyQuestion(random));
      }
      await countAll();
      expect(await prisma.runTotalChange.count()).toBe(0);
      await expectTrue(botId);
    }
  });

  test('count each run once while processes count, change and delete runs at the same time', async () => {
    const random = seededRandom(7);
    const { prisma } = database;
    const botId = await makeBot();
    await beginAt(START + 30 * HOUR_MS);
    const made = await store(
      botId,
      Array.from({ length: 300 }, () => anyRun(random)),
    );
    const count = async () => {
      for (let step = 0; step < 15; step += 1) await counting().countNext();
    };
    const change = async (runs: MadeRun[]) => {
      for (const { id } of runs.slice(10)) {
        await prisma.run.update({ where: { id }, data: { status: 'FAILED', latencyMs: 9 } });
      }
      const gone = runs.slice(0, 10).map(({ id }) => id);
      await prisma.run.deleteMany({ where: { id: { in: gone } } });
    };
    await Promise.all([
      count(),
      count(),
      rebuild(botId),
      change(made.slice(0, 40)),
      change(made.slice(40, 80)),
    ]);
    await expectTrue(botId);
    await countAll();
    await expectTrue(botId);
  });

  test('have no more rows after many changes of a run than after the first', async () => {
    const { prisma } = database;
    const botId = await makeBot();
    await beginAt(START);
    const [run] = await store(botId, [
      { createdAt: WHOLE.from, status: 'QUEUED', promptTokens: 1 },
    ]);
    await countAll();
    const where = { id: run?.id ?? '' };
    for (const status of ['RUNNING', 'QUEUED', 'RUNNING', 'COMPLETED'] as const) {
      await prisma.run.update({ where, data: { status } });
      await countAll();
    }
    const totals = await prisma.runTotal.findMany({ where: { botId } });
    expect(totals.map(({ unit, status, runs }) => [unit, status, runs])).toEqual([
      ['HOUR', 'COMPLETED', 1],
      ['DAY', 'COMPLETED', 1],
    ]);
    await prisma.run.delete({ where });
    await countAll();
    expect(await prisma.runTotal.count({ where: { botId } })).toBe(0);
  });

  test('are deleted with the bot', async () => {
    const { prisma } = database;
    const botId = await makeBot();
    await beginAt(START);
    await store(botId, [{ createdAt: WHOLE.from }, { createdAt: WHOLE.from, status: 'RUNNING' }]);
    await countAll();
    await prisma.run.updateMany({ where: { botId }, data: { latencyMs: 5 } });
    expect(await prisma.runTotal.count({ where: { botId } })).toBe(4);
    expect(await prisma.runTotalChange.count({ where: { botId } })).toBe(4);
    await prisma.bot.delete({ where: { id: botId } });
    expect(await prisma.runTotal.count({ where: { botId } })).toBe(0);
    expect(await prisma.runTotalChange.count({ where: { botId } })).toBe(0);
  });

  test('count no run of the last minute, and no changes of one', async () => {
    const { prisma } = database;
    const botId = await makeBot();
    await beginAt(Date.now() - HOUR_MS);
    const [young] = await store(botId, [{ status: 'RUNNING', promptTokens: 1 }]);
    await countAll();
    const where = { id: young?.id ?? '' };
    await prisma.run.update({ where, data: { status: 'COMPLETED', latencyMs: 3 } });
    const { createdAt } = await prisma.run.findUniqueOrThrow({ where });
    const { countedUntil } = await prisma.runTotalsRange.findFirstOrThrow();
    expect(countedUntil.getTime()).toBeLessThan(createdAt.getTime());
    const question = {
      from: new Date(createdAt.getTime() - 1),
      to: new Date(Date.now() + HOUR_MS),
    };
    await expectTrue(botId, question);
    const latencies = await stats.of([botId], question).latencies();
    expect(latencies(botId)(question.from)?.p50).toBe(3);
  });

  test('begin anew with the day if the clock of the database was set back', async () => {
    const { prisma } = database;
    const botId = await makeBot();
    const hour = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS);
    await beginAt(Date.now() + 24 * HOUR_MS);
    await store(botId, [{ promptTokens: 1, createdAt: new Date(Date.now() - 90_000) }]);
    const key = { kind: 'CHAT', environment: 'PRODUCTION', channel: 'API', keyId: '' } as const;
    const wrong = { runs: 5, tokens: 5n, latencies: new Uint8Array() };
    await prisma.runTotal.create({
      data: { botId, unit: 'HOUR', start: hour, status: 'FAILED', ...key, ...wrong },
    });
    await countAll();
    const { countedUntil } = await prisma.runTotalsRange.findFirstOrThrow();
    expect(countedUntil.getTime()).toBeLessThan(Date.now());
    await expectTrue(botId, {
      from: new Date(hour.getTime() - 24 * HOUR_MS),
      to: new Date(hour.getTime() + 24 * HOUR_MS),
    });
  });

  test('count many changes of one transaction, of which the planner knows nothing', async () => {
    const { prisma } = database;
    const botId = await makeBot();
    await beginAt(END);
    await countAll();
    const changes = 60_000;
    const store = () => prisma.$executeRaw`
      INSERT INTO run_total_changes (bot_id, created_at, kind, environment, channel, status, key_id, runs, tokens)
      SELECT ${botId}, ${new Date(START)}, 'CHAT', 'PRODUCTION', 'API', 'COMPLETED', '', 1, 2
      FROM generate_series(1, ${changes})`;
    await store();
    await prisma.$executeRaw`DELETE FROM run_total_changes`;
    // The table keeps its pages and has no rows, as if it were vacuumed while an import is not committed yet.
    await prisma.$executeRaw`VACUUM (TRUNCATE false) run_total_changes`;
    await store();
    await createCountRuns({ prisma }).countAll(new AbortController().signal);
    expect(await prisma.runTotal.findMany({ where: { botId, unit: 'DAY' } })).toMatchObject([
      { runs: changes, tokens: BigInt(2 * changes) },
    ]);
  });
});

describe('a rebuild', () => {
  test('corrects what was changed without the triggers, and says how many totals were wrong', async () => {
    const { prisma } = database;
    const random = seededRandom(11);
    const [botId, other] = [await makeBot(), await makeBot()];
    await beginAt(END);
    for (const id of [botId, other]) {
      await store(
        id,
        Array.from({ length: 100 }, () => anyRun(random)),
      );
    }
    await countAll();
    expect(await rebuild(botId)).toEqual({ bots: 1, runs: 100, corrected: 0 });
    const spoil = async () => {
      const { count } = await prisma.runTotal.updateMany({
        where: { botId, unit: 'HOUR', kind: 'CHAT' },
        data: { runs: { increment: 1 }, latencies: new Uint8Array() },
      });
      const [total] = await prisma.runTotal.findMany({ where: { botId, unit: 'DAY' }, take: 1 });
      if (!total) throw new Error('There is no total of a day.');
      const { unit, start, kind, environment, channel, status, keyId } = total;
      const key = { botId, unit, start, kind, environment, channel, status };
      await prisma.runTotal.delete({
        where: { botId_unit_start_kind_environment_channel_status_keyId: { ...key, keyId } },
      });
      await prisma.runTotal.create({ data: { ...total, keyId: 'key_never' } });
      return count + 2;
    };
    const wrong = await spoil();
    const others = await prisma.runTotal.findMany({ where: { botId: other } });
    expect(await rebuild(botId)).toEqual({ bots: 1, runs: 100, corrected: wrong });
    await expectTrue(botId);
    expect(await prisma.runTotal.findMany({ where: { botId: other } })).toEqual(others);
  });

  test('leaves runs that are not counted yet, and bots without runs', async () => {
    const botId = await makeBot();
    expect(await rebuild(botId)).toEqual({ bots: 1, runs: 0, corrected: 0 });
    await beginAt(START + HOUR_MS);
    await store(botId, [{ createdAt: WHOLE.from, promptTokens: 1 }]);
    expect(await rebuild(botId)).toEqual({ bots: 1, runs: 0, corrected: 0 });
    await expectTrue(botId);
    await countAll();
    expect(await rebuild(botId)).toEqual({ bots: 1, runs: 1, corrected: 0 });
    await expectTrue(botId);
  });
});
