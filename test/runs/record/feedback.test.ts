import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { makeRuns, newestFirst } from '../../helpers/runs.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

const ADD = `mutation ($run: ID!, $rating: FeedbackRating!, $note: String) {
  addFeedback(runId: $run, rating: $rating, note: $note) { rating note }
}`;
const REMOVE = 'mutation ($run: ID!) { removeFeedback(runId: $run) }';
const READ =
  'query ($run: ID!) { run(id: $run) { feedback { rating note keyId createdAt updatedAt } } }';

const rate = (key: string, run: string, rating: 'UP' | 'DOWN', note?: string) =>
  app.graphql(key, ADD, { run, rating, note });
const feedbackOf = async (run: string) =>
  (await tenant.graphql(READ, { run })).data.run.feedback as { rating: string; note: string }[];

/** A bot with a session, its run, and a token of the session. */
const conversation = async (sessionId: string) => {
  const bot = await tenant.bot();
  const reply = await tenant.chat(bot, { message: 'Hi' }, { 'x-session-id': sessionId });
  const { run_id: run } = (await reply.json()) as { run_id: string };
  const { data } = await tenant.graphql(
    `mutation { createSessionToken(input: { botId: "${bot}", sessionId: "${sessionId}" }) { token } }`,
  );
  return { bot, run, token: data.createSessionToken.token as string };
};

describe('the feedback on a run', () => {
  test('is one rating for each author, who can change and remove it', async () => {
    const { run, token } = await conversation('ada');
    const other = await tenant.key({ scopes: ['CHAT'] });
    expect((await rate(token, run, 'DOWN', 'Wrong order.')).data.addFeedback).toEqual({
      rating: 'DOWN',
      note: 'Wrong order.',
    });
    await rate(tenant.apiKey, run, 'DOWN');
    await rate(other, run, 'UP', 'Fine.');
    await rate(token, run, 'UP');
    const found = await feedbackOf(run);
    expect(found.map(({ rating, note }) => [rating, note])).toEqual([
      ['UP', null],
      ['DOWN', null],
      ['UP', 'Fine.'],
    ]);
    expect(found[0]).toMatchObject({ keyId: null });
    expect(found[1]).toMatchObject({ keyId: expect.stringMatching(/^key_/) });
    const remove = async (key: string) => (await app.graphql(key, REMOVE, { run })).data;
    expect(await remove(token)).toEqual({ removeFeedback: true });
    expect(await remove(token)).toEqual({ removeFeedback: false });
    expect(await feedbackOf(run)).toHaveLength(2);
  });

  test('is given with a session token only on runs of its session', async () => {
    const [{ run }, { token }] = [await conversation('ada'), await conversation('bo')];
    const codeOf = ({ errors }: Awaited<ReturnType<typeof rate>>) => errors?.[0]?.extensions.code;
    expect(codeOf(await rate(token, run, 'UP'))).toBe('RUN_NOT_FOUND');
    expect(codeOf(await app.graphql(token, REMOVE, { run }))).toBe('RUN_NOT_FOUND');
    expect(codeOf(await rate((await app.tenant()).apiKey, run, 'UP'))).toBe('RUN_NOT_FOUND');
    expect(codeOf(await rate(await tenant.key({ scopes: ['ADMIN'] }), run, 'UP'))).toBe(
      'INSUFFICIENT_SCOPE',
    );
    expect(await feedbackOf(run)).toEqual([]);
  });

  test('has a note of at most 2,000 characters', async () => {
    const { run } = await conversation('ada');
    expect((await rate(tenant.apiKey, run, 'UP', 'x'.repeat(2_000))).errors).toBeUndefined();
    const { errors } = await rate(tenant.apiKey, run, 'UP', 'x'.repeat(2_001));
    expect(errors?.[0]?.extensions.details).toEqual([
      { path: 'note', message: 'must not be longer than 2,000 characters' },
    ]);
  });

  test('of each run of a list is listed, at most 20 ratings of each', async () => {
    const bot = await tenant.bot(null);
    const [one, other] = (await makeRuns(app, bot, [{}, {}])).map(({ id }) => id);
    const rating = { botId: bot, rating: 'UP' as const, runCreatedAt: new Date() };
    const ratings = Array.from({ length: 50 }, (_, index) => ({
      ...rating,
      runId: one ?? '',
      author: `key_${index}`,
      note: String(index),
      givenAt: new Date(Date.parse('2026-03-01') + index),
    }));
    await app.prisma.feedback.createMany({
      data: [...ratings, { ...rating, runId: other ?? '', author: 'user', note: 'latest' }],
    });
    const { data } = await tenant.graphql(
      'query ($bot: ID!) { bot(id: $bot) { runs(first: 2) { edges { node { id feedback { note } } } } } }',
      { bot },
    );
    const notes = new Map<string, string[]>(
      data.bot.runs.edges.map(
        ({ node }: { node: { id: string; feedback: { note: string }[] } }) => [
          node.id,
          node.feedback.map(({ note }) => note),
        ],
      ),
    );
    expect(notes.get(other ?? '')).toEqual(['latest']);
    expect(notes.get(one ?? '')).toEqual(ratings.slice(0, 20).map(({ note }) => note));
  });

  test('filters and pages lists, in their order, and is counted by statistics', async () => {
    const bot = await tenant.bot(null);
    const made = await makeRuns(
      app,
      bot,
      Array.from({ length: 12 }, (_, index) => ({
        createdAt: new Date(Date.parse('2026-03-01') + (index % 5) * 3_600_000),
        sessionId: index % 2 === 0 ? 'ada' : 'bo',
        input: index % 3 === 0 ? 'heron' : 'osprey',
      })),
    );
    const other = await tenant.key({ scopes: ['RUNS'] });
    for (const [index, run] of made.entries()) {
      if (index < 8) await rate(tenant.apiKey, run.id, 'DOWN');
      if (index > 5) await rate(other, run.id, index === 6 ? 'DOWN' : 'UP');
    }
    const list = async (filter: object, page = 'first: 100') => {
      const { data, errors } = await tenant.graphql(
        `query ($bot: ID!, $filter: RunFilter) { bot(id: $bot) {
          runs(filter: $filter, ${page}) { edges { node { id } } pageInfo { endCursor } }
          stats(from: "2026-03-01T00:00:00Z", to: "2026-03-02T00:00:00Z", filter: $filter) {
            runs thumbsUp thumbsDown perDay { thumbsDown } perHour { thumbsUp thumbsDown }
          }
        } }`,
        { bot, filter },
      );
      expect(errors).toBeUndefined();
      const { runs, stats } = data.bot;
      const ids = runs.edges.map(({ node }: { node: { id: string } }) => node.id);
      return { ids, stats, cursor: runs.pageInfo.endCursor };
    };
    const idsOf = (wanted: (index: number) => boolean) =>
      made
        .filter((_, index) => wanted(index))
        .toSorted(newestFirst)
        .map(({ id }) => id);
    const down = idsOf((index) => index < 8);
    const first = await list({ feedback: 'DOWN' }, 'first: 3');
    expect(first.ids).toEqual(down.slice(0, 3));
    const second = await list({ feedback: 'DOWN' }, `first: 100, after: "${first.cursor}"`);
    expect(second.ids).toEqual(down.slice(3));
    expect((await list({ feedback: 'DOWN' }, 'last: 2')).ids).toEqual(down.slice(-2));
    expect((await list({ feedback: 'UP' })).ids).toEqual(idsOf((index) => index > 6));
    expect((await list({ feedback: 'DOWN', user: 'ada', text: 'heron' })).ids).toEqual(
      idsOf((index) => index < 8 && index % 6 === 0),
    );
    const { stats } = await list({});
    expect(stats).toMatchObject({ runs: 12, thumbsUp: 5, thumbsDown: 8 });
    expect(stats.perDay).toEqual([{ thumbsDown: 8 }]);
    expect(stats.perHour.slice(0, 6).map(Object.values)).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
      [1, 1],
      [1, 1],
      [0, 0],
    ]);
    expect((await list({ feedback: 'UP' })).stats).toMatchObject({ runs: 5, thumbsDown: 1 });
  });

  test('is deleted with its run, its session and its bot', async () => {
    const count = (runId: string) => app.prisma.feedback.count({ where: { runId } });
    const [one, two, three] = [
      await conversation('ada'),
      await conversation('ada'),
      await conversation('ada'),
    ];
    for (const { run } of [one, two, three]) await rate(tenant.apiKey, run, 'UP', 'Ada');
    await app.prisma.run.delete({ where: { id: one.run } });
    expect(await count(one.run)).toBe(0);
    await tenant.graphql(`mutation { forgetSession(botId: "${two.bot}", sessionId: "ada") }`);
    expect(await count(two.run)).toBe(0);
    await tenant.graphql(`mutation { deleteBot(id: "${three.bot}") }`);
    expect(await count(three.run)).toBe(0);
  });
});
