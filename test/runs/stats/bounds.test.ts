import { beforeAll, describe, expect, test } from 'vitest';
import type { RunFilter } from '../../../src/runs/list/filter.ts';
import { MAX_READ } from '../../../src/runs/stats/matching-runs.ts';
import { createRunStats } from '../../../src/runs/stats/stats.ts';
import { makeId } from '../../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { testDatabase } from '../../helpers/database.ts';
import { rounds } from '../../helpers/rounds.ts';
import { type MadeRun, makeRuns } from '../../helpers/runs.ts';
import { type Random, seededRandom } from '../../helpers/seeded-random.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

const DAY = '2026-03-01';
const at = (hour: number) => new Date(`${DAY}T${String(hour).padStart(2, '0')}:30:00Z`);
const PERIOD = { from: new Date(`${DAY}T00:00:00Z`), to: new Date('2026-03-02T00:00:00Z') };
const TOO_BROAD = { code: 'search_too_broad', message: expect.stringContaining('shorter time') };

const rate = (runs: MadeRun[], rating: 'UP' | 'DOWN', author = 'user') =>
  app.prisma.feedback.createMany({
    data: runs.map(({ id: runId, botId, createdAt: runCreatedAt }) => ({
      runId,
      botId,
      runCreatedAt,
      rating,
      author,
    })),
  });

/** Reads the counts and the ratings of a bot with bounds that a few runs exceed. */
const readWithin = async (limits: { maxRead?: number; maxRatings?: number }) => {
  const stats = createRunStats({ ...(await testDatabase()), limits });
  return (bots: string[], filter: RunFilter) => {
    const reader = stats.of(bots, { ...PERIOD, filter });
    const [bot = ''] = bots;
    return {
      runs: async () => (await reader.counts())(bot)(PERIOD.from)?.runs ?? 0,
      rated: async () => {
        const { up = 0, down = 0 } = (await reader.ratings())(bot)(PERIOD.from) ?? {};
        return [up, down];
      },
    };
  };
};

describe('statistics with a filter that totals do not have', () => {
  const anyRun = (random: Random): Partial<MadeRun> => {
    const status = random.pick(['COMPLETED', 'FAILED'] as const);
    return {
      kind: random.pick(['CHAT', 'EXECUTE', 'DRAFT']),
      environment: random.pick(['PRODUCTION', 'STAGING']),
      channel: 'API',
      entrance: random.pick(['REST', 'GRAPHQL'] as const),
      status,
      errorCode: status === 'FAILED' ? random.pick(['model_error', 'model_timeout']) : null,
      sessionId: random.pick(['ada', 'bo']),
      model: random.pick(['one', 'another']),
      latencyMs: random.int(0, 3_000),
      promptTokens: random.int(0, 3_000),
      createdAt: at(random.int(0, 23)),
    };
  };
  const anyFilter = (random: Random): RunFilter => {
    const fields: RunFilter[] = [
      { user: 'ada' },
      { model: 'one' },
      { errorCode: ['model_error'] },
      { minLatencyMs: random.int(1, 3_000) },
      { minTokens: random.int(1, 3_000) },
      { feedback: 'UP' },
      { entrance: ['GRAPHQL'] },
      { kind: 'EXECUTE' },
      { environment: 'STAGING' },
      { status: ['FAILED'] },
      { from: at(random.int(0, 23)) },
      { text: 'heron' },
    ];
    const [first = {}] = fields;
    return Object.assign({}, ...Array.from({ length: 3 }, () => random.pick([first, ...fields])));
  };

  test('count the runs of a list, whichever index has the fewest', async () => {
    const read = await readWithin({});
    for (let seed = 1; seed <= rounds(2, 20); seed += 1) {
      const random = seededRandom(seed);
      const bot = await tenant.bot(null);
      const made = await makeRuns(
        app,
        bot,
        Array.from({ length: 60 }, () => ({
          ...anyRun(random),
          input: random.pick(['heron', 'osprey']),
        })),
      );
      const rated = { UP: made.slice(0, 20), DOWN: made.slice(15, 30) };
      await rate(rated.UP, 'UP');
      await rate(rated.UP.slice(5), 'UP', 'another');
      await rate(rated.DOWN, 'DOWN', 'third');
      for (let round = 0; round < 15; round += 1) {
        const filter = anyFilter(random);
        const { data, errors } = await tenant.graphql(
          `query ($id: ID!, $filter: RunFilter) { runs(botId: $id, filter: $filter, first: 100) { edges { node { id } } } }`,
          {
            id: bot,
            filter: { ...filter, errorCode: filter.errorCode?.map((code) => code.toUpperCase()) },
          },
        );
        expect(errors).toBeUndefined();
        const listed = data.runs.edges.map(({ node }: { node: { id: string } }) => node.id);
        const ratedIn = (runs: MadeRun[]) => runs.filter(({ id }) => listed.includes(id)).length;
        const { runs, rated: ratedRuns } = read([bot], filter);
        expect(await runs(), JSON.stringify(filter)).toBe(listed.length);
        expect(await ratedRuns()).toEqual([ratedIn(rated.UP), ratedIn(rated.DOWN)]);
      }
    }
  });

  test('read runs by the index with few entries, and none if each has too many', async () => {
    const read = await readWithin({ maxRead: 10 });
    const [bot, other] = [await tenant.bot(null), await tenant.bot(null)];
    const many = { sessionId: 'ada', model: 'one', latencyMs: 100, createdAt: at(1) };
    const made = await makeRuns(app, bot, [
      ...Array.from({ length: 11 }, () => many),
      { ...many, model: 'rare', status: 'FAILED', errorCode: 'model_error', latencyMs: 9_000 },
    ]);
    await makeRuns(
      app,
      other,
      Array.from({ length: 10 }, () => ({ ...many, sessionId: 'bo' })),
    );
    await rate(made.slice(0, 2), 'UP');
    for (const filter of [{ user: 'ada' }, { model: 'one' }, { minLatencyMs: 100 }])
      await expect(read([bot], filter).runs()).rejects.toMatchObject(TOO_BROAD);
    expect(await read([bot], { user: 'ada', model: 'rare' }).runs()).toBe(1);
    expect(await read([bot], { model: 'one', minLatencyMs: 9_000 }).runs()).toBe(0);
    expect(await read([bot], { user: 'ada', errorCode: ['model_error'] }).runs()).toBe(1);
    expect(await read([bot], { user: 'ada', status: ['FAILED'] }).runs()).toBe(1);
    expect(await read([bot], { user: 'ada', feedback: 'UP' }).runs()).toBe(2);
    expect(await read([bot], { user: 'ada', from: at(2) }).runs()).toBe(0);
    // The ratings have few entries of their own.
    expect(await read([bot], { user: 'ada' }).rated()).toEqual([2, 0]);
    // The bound is for all bots together.
    expect(await read([other], { user: 'bo' }).runs()).toBe(10);
    await makeRuns(app, bot, [{ ...many, sessionId: 'bo' }]);
    expect(await read([bot], { user: 'bo' }).runs()).toBe(1);
    await expect(read([other, bot], { user: 'bo' }).runs()).rejects.toMatchObject(TOO_BROAD);
  });

  test('refuse to count more ratings than a bound, and still count the runs', async () => {
    const read = await readWithin({ maxRead: 5, maxRatings: 10 });
    const bot = await tenant.bot(null);
    const runs = (count: number, environment: 'PRODUCTION' | 'STAGING') =>
      makeRuns(
        app,
        bot,
        Array.from({ length: count }, () => ({ environment, createdAt: at(1) })),
      );
    const production = await runs(6, 'PRODUCTION');
    await rate(production, 'UP');
    await rate(await runs(4, 'STAGING'), 'DOWN');
    expect(await read([bot], {}).rated()).toEqual([6, 4]);
    expect(await read([bot], { environment: 'STAGING' }).rated()).toEqual([0, 4]);
    const inProduction = read([bot], { environment: 'PRODUCTION' });
    await expect(inProduction.rated()).rejects.toMatchObject(TOO_BROAD);
    expect(await inProduction.runs()).toBe(6);
    await rate(production.slice(0, 1), 'UP', 'another');
    await expect(read([bot], {}).rated()).rejects.toMatchObject(TOO_BROAD);
    expect(await read([bot], {}).runs()).toBe(10);
  });

  test('fail with SEARCH_TOO_BROAD over GraphQL, without reading the runs', async () => {
    const bot = await tenant.bot(null);
    const store = (count: number, user: string) => app.prisma.$executeRaw`
      INSERT INTO runs (id, bot_id, environment, kind, channel, input, session_id, owner_id, status, latency_ms, created_at)
      SELECT ${makeId('run')} || number, ${bot}, 'PRODUCTION', 'CHAT', 'API', 'Hi', ${user}, ${makeId('own')}, 'COMPLETED',
        1000, ${at(1)}::timestamptz FROM generate_series(1, ${count}::int) AS number`;
    await store(MAX_READ + 1, 'many');
    await store(100, 'few');
    const read = (filter: object) =>
      tenant.graphql(
        `query ($ids: [ID!]!, $filter: RunFilter) { nodes(ids: $ids) { ... on Bot {
          stats(from: "2026-03-01T00:00:00Z", to: "2026-03-02T00:00:00Z", filter: $filter) { runs latencyP95 thumbsUp perDay { runs latencyP50 } }
        } } }`,
        { ids: [bot], filter },
      );
    const { errors } = await read({ user: 'many' });
    expect(errors).toHaveLength(1);
    expect(errors?.[0]).toMatchObject({
      message: TOO_BROAD.message,
      extensions: { code: 'SEARCH_TOO_BROAD' },
    });
    for (const [filter, runs] of [
      [{ user: 'few' }, 100],
      [{ environment: 'PRODUCTION' }, MAX_READ + 101],
    ] as const) {
      const { data } = await read(filter);
      expect(data.nodes[0].stats).toMatchObject({ runs, thumbsUp: 0, perDay: [{ runs }] });
    }
  });
});
