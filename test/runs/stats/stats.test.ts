import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { makeRuns } from '../../helpers/runs.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

const STATS = `query ($id: ID!, $from: DateTime!, $to: DateTime!) {
  bot(id: $id) { stats(from: $from, to: $to) {
    runs failed tokens latencyP50 latencyP95 perDay { date runs failed tokens }
  } }
}`;

const stats = (id: string, from: string, to: string) => tenant.graphql(STATS, { id, from, to });
/** Matches estimates of a latency, which are at most 1 % above or below it. */
const near = (ms: number) => expect.closeTo(ms, -Math.log10(2 * 0.01 * ms));
const at = (moment: string) => ({ createdAt: new Date(moment) });

describe('the statistics of a bot', () => {
  test('sum up the runs from a start up to an exclusive end, by day', async () => {
    const [bot, other] = [await tenant.bot(null), await tenant.bot(null)];
    const usage = (promptTokens: number, latencyMs: number | null) => ({
      promptTokens,
      completionTokens: 1,
      latencyMs,
    });
    await makeRuns(app, bot, [
      { ...at('2026-03-01T11:59:59.999Z'), ...usage(1_000, 1_000) },
      { ...at('2026-03-01T12:00:00Z'), ...usage(10, 100) },
      { ...at('2026-03-01T23:59:59.999Z'), ...usage(20, 200), status: 'FAILED' },
      { ...at('2026-03-03T00:00:00Z'), ...usage(30, 400), status: 'CANCELLED' },
      { ...at('2026-03-03T11:00:00Z'), ...usage(0, null), status: 'RUNNING' },
      { ...at('2026-03-03T12:00:00Z'), ...usage(1_000, 1_000), status: 'FAILED' },
    ]);
    await makeRuns(app, other, [{ ...at('2026-03-02T12:00:00Z'), ...usage(1_000, 1_000) }]);
    const { data, errors } = await stats(bot, '2026-03-01T12:00:00Z', '2026-03-03T13:00:00+01:00');
    expect(errors).toBeUndefined();
    expect(data.bot.stats).toEqual({
      runs: 4,
      failed: 1,
      tokens: 64,
      latencyP50: near(200),
      latencyP95: near(380),
      perDay: [
        { date: '2026-03-01', runs: 2, failed: 1, tokens: 32 },
        { date: '2026-03-02', runs: 0, failed: 0, tokens: 0 },
        { date: '2026-03-03', runs: 2, failed: 0, tokens: 32 },
      ],
    });
  });

  test('are zero for a bot without runs, on all days of a leap year', async () => {
    const { data } = await stats(
      await tenant.bot(null),
      '2024-01-01T00:00:00Z',
      '2025-01-01T00:00:00Z',
    );
    const { perDay, ...sums } = data.bot.stats;
    expect(sums).toEqual({ runs: 0, failed: 0, tokens: 0, latencyP50: null, latencyP95: null });
    expect(perDay).toHaveLength(366);
    expect([perDay[59].date, perDay[365].date]).toEqual(['2024-02-29', '2024-12-31']);
  });

  test('report tokens beyond the range of Int as its maximum', async () => {
    const bot = await tenant.bot(null);
    const many = { ...at('2026-03-01T00:00:00Z'), promptTokens: 2_000_000_000 };
    await makeRuns(app, bot, [many, many]);
    const { data } = await stats(bot, '2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z');
    expect(data.bot.stats.tokens).toBe(2_147_483_647);
    expect(data.bot.stats.perDay[0].tokens).toBe(2_147_483_647);
  });

  test.each([
    ['9999-12-31T00:00:00Z', '9999-12-31T12:00:00-12:00', '9999-12-31'],
    ['0001-01-01T12:00:00+12:00', '0001-01-01T00:00:01Z', '0001-01-01'],
  ])('reach to the ends of the calendar: from %s to %s', async (from, to, date) => {
    const { data } = await stats(await tenant.bot(null), from, to);
    expect(data.bot.stats.perDay).toEqual([{ date, runs: 0, failed: 0, tokens: 0 }]);
  });

  test.each([
    ['2026-03-01T00:00:00Z', '2026-03-01T00:00:00Z', 'to', 'must be after from'],
    ['2026-03-02T00:00:00Z', '2026-03-01T00:00:00Z', 'to', 'must be after from'],
    [
      '2025-01-01T00:00:00Z',
      '2026-01-02T00:00:00.001Z',
      'to',
      'must be at most 366 days after from',
    ],
    ['9999-12-31T00:00:00Z', '9999-12-31T12:00:01-12:00', 'to', 'must not be after the year 9999'],
    ['0001-01-01T00:00:00+00:01', '0001-01-02T00:00:00Z', 'from', 'must not be before the year 1'],
  ])('refuse the period from %s to %s', async (from, to, path, message) => {
    const { errors } = await stats(await tenant.bot(null), from, to);
    expect(errors?.[0]?.extensions).toEqual({
      code: 'INVALID_REQUEST',
      details: [{ path, message }],
    });
  });

  const HOURS = `query ($id: ID!, $from: DateTime!, $to: DateTime!) {
    bot(id: $id) { stats(from: $from, to: $to) { perHour { startedAt runs failed tokens } } }
  }`;

  test('count runs by hour, including hours without runs', async () => {
    const bot = await tenant.bot(null);
    await makeRuns(app, bot, [
      { ...at('2026-03-01T11:29:59.999Z'), promptTokens: 1_000 },
      { ...at('2026-03-01T11:30:00Z'), promptTokens: 10 },
      { ...at('2026-03-01T11:59:59.999Z'), promptTokens: 20, status: 'FAILED' },
      { ...at('2026-03-01T13:00:00Z'), promptTokens: 30 },
    ]);
    const period = { from: '2026-03-01T11:30:00Z', to: '2026-03-01T14:30:00+01:00' };
    const { data, errors } = await tenant.graphql(HOURS, { id: bot, ...period });
    expect(errors).toBeUndefined();
    expect(data.bot.stats.perHour).toEqual([
      { startedAt: '2026-03-01T11:00:00.000Z', runs: 2, failed: 1, tokens: 30 },
      { startedAt: '2026-03-01T12:00:00.000Z', runs: 0, failed: 0, tokens: 0 },
      { startedAt: '2026-03-01T13:00:00.000Z', runs: 1, failed: 0, tokens: 30 },
    ]);
  });

  test('count runs by hour for at most 7 days', async () => {
    const id = await tenant.bot(null);
    const from = '2026-03-01T00:00:00Z';
    const week = await tenant.graphql(HOURS, { id, from, to: '2026-03-08T00:00:00Z' });
    expect(week.data.bot.stats.perHour).toHaveLength(7 * 24);
    const more = await tenant.graphql(HOURS, { id, from, to: '2026-03-08T00:00:00.001Z' });
    expect(more.errors?.[0]?.extensions).toEqual({
      code: 'INVALID_REQUEST',
      details: [{ path: 'to', message: 'must be at most 7 days after from for perHour' }],
    });
  });

  test('follow each field of a filter, also with the latencies of days and hours', async () => {
    const [bot, other] = [await tenant.bot(null), await tenant.bot(null)];
    const run = (hour: number, latencyMs: number | null, rest = {}) => ({
      ...at(`2026-03-01T${hour}:30:00Z`),
      latencyMs,
      sessionId: 'ada',
      input: 'Where is the heron?',
      ...rest,
    });
    await makeRuns(app, bot, [
      run(10, 100),
      run(10, 300),
      run(12, 500),
      run(12, 9, { sessionId: 'bo' }),
      run(12, 9, { input: 'An osprey' }),
      run(13, null, { status: 'RUNNING', input: 'heron' }),
    ]);
    await makeRuns(app, other, [run(10, 7)]);
    const read = async (filter: object) => {
      const { data, errors } = await tenant.graphql(
        `query ($ids: [ID!]!, $filter: RunFilter) { nodes(ids: $ids) { ... on Bot {
          stats(from: "2026-03-01T10:00:00Z", to: "2026-03-01T14:00:00Z", filter: $filter) {
            runs latencyP50
            perDay { runs latencyP50 latencyP95 }
            perHour { startedAt runs latencyP50 latencyP95 }
          }
        } } }`,
        { ids: [bot, other], filter },
      );
      expect(errors).toBeUndefined();
      return data.nodes.map(({ stats }: { stats: object }) => stats);
    };
    const hour = (hour: number, runs: number, p50: number | null, p95 = p50) => ({
      startedAt: `2026-03-01T${hour}:00:00.000Z`,
      runs,
      latencyP50: p50 && near(p50),
      latencyP95: p95 && near(p95),
    });
    const [own, others] = await read({ user: 'ada', text: 'heron', status: ['COMPLETED'] });
    expect(own).toEqual({
      runs: 3,
      latencyP50: near(300),
      perDay: [{ runs: 3, latencyP50: near(300), latencyP95: near(480) }],
      perHour: [hour(10, 2, 200, 290), hour(11, 0, null), hour(12, 1, 500), hour(13, 0, null)],
    });
    expect(others).toMatchObject({ runs: 1, latencyP50: 7 });
    const runsOf = async (filter: object) =>
      (await read(filter)).map(({ runs }: { runs: number }) => runs);
    expect(await runsOf({ minLatencyMs: 300 })).toEqual([2, 0]);
    expect(await runsOf({ from: '2026-03-01T12:00:00Z' })).toEqual([4, 0]);
    expect(await runsOf({ date: '2026-03-02' })).toEqual([0, 0]);
    expect(await runsOf({})).toEqual([6, 1]);
  });

  test('require the scope RUNS', async () => {
    const id = await tenant.bot(null);
    const key = await tenant.key({ scopes: ['CHAT', 'DEPLOY', 'ADMIN'] });
    const { errors } = await app.graphql(key, STATS, {
      id,
      from: '2026-03-01T00:00:00Z',
      to: '2026-03-02T00:00:00Z',
    });
    expect(errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
  });
});
