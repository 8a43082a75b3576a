import { beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { createRunList } from '../../../src/runs/list/list.ts';
import { createRunStats } from '../../../src/runs/stats/stats.ts';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { testDatabase } from '../../helpers/database.ts';
import { type MadeRun, makeRuns, newestFirst } from '../../helpers/runs.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

/** Stores one run. @returns a function that tells whether a search finds it. */
const store = async (run: Partial<MadeRun>) => {
  const bot = await tenant.bot(null);
  const [made] = await makeRuns(app, bot, [run]);
  return async (text: string) => {
    const { data, errors } = await tenant.graphql(
      'query ($bot: ID!, $text: String!) { runs(botId: $bot, filter: { text: $text }) { edges { node { id } } } }',
      { bot, text },
    );
    expect(errors).toBeUndefined();
    const ids = data.runs.edges.map(({ node }: { node: { id: string } }) => node.id);
    return ids.includes(made?.id);
  };
};

describe('a search finds a run', () => {
  test.each([
    ['a word of the input', 'heron', true],
    ['a word of the reply', 'ponds', true],
    ['a word in other case', 'HERON', true],
    ['words of input and reply', 'ponds heron', true],
    ['a phrase', '"grey heron"', true],
    ['words that are not a phrase', '"heron grey"', false],
    ['one of two words', 'osprey or heron', true],
    ['an excluded word', 'heron -grey', false],
    ['the start of a word', 'her', false],
    ['the host of an address', 'birds.example', true],
    ['an unfinished quotation', 'where "grey heron', true],
    ['operators of other languages', "heron & ! ( ' \\ :*", true],
    ['the id of the bot', 'demo', false],
    ['words without a phrase that another run has', '-"heron grey"', true],
    ['an excluded phrase', 'heron -"grey heron"', false],
    ['one of two phrases', '"heron grey" or "the ponds"', true],
    ['a phrase or an exclusion', '"heron grey" or -osprey', true],
    ['an address with a phrase operator', '"birds.example" -heron<->grey', false],
    ['a tag alone', '<b>', false],
  ])('by %s', async (_what, text, found) => {
    const finds = await store({
      input: 'Where is the grey heron?',
      response: 'At the ponds, see https://birds.example/heron for more.',
    });
    expect(await finds(text)).toBe(found);
  });

  test.each([
    ['Chinese', '请问今天天气怎么样？', '天气', '气天'],
    ['Chinese in a phrase', '我住在北京，wo zhu', '"北京 wo"', '"wo 北京"'],
    ['Japanese', '東京タワーはどこですか', 'タワー', 'ワター'],
    ['Thai', 'สวัสดีครับ', 'สวัสดี', 'ดีสวัส'],
    ['Greek', 'Πού είναι η παραγγελία μου;', 'ΠΑΡΑΓΓΕΛΊΑ', 'παρ'],
  ])('by a word of %s', async (_script, input, word, other) => {
    const finds = await store({ input });
    expect(await finds(word)).toBe(true);
    expect(await finds(other)).toBe(false);
  });

  test('by its first 8,192 characters, however long it is', async () => {
    const long = `heron ${'天'.repeat(8_000)} gull ${'x '.repeat(500_000)} osprey`;
    const finds = await store({ input: long, response: long });
    expect(await finds('heron')).toBe(true);
    expect(await finds('gull')).toBe(true);
    expect(await finds('osprey')).toBe(false);
  });

  test('only after it has finished', async () => {
    const finds = await store({ input: 'heron', status: 'RUNNING' });
    expect(await finds('heron')).toBe(false);
    await app.prisma.run.updateMany({ where: { input: 'heron' }, data: { status: 'COMPLETED' } });
    expect(await finds('heron')).toBe(true);
  });
});

test('a common text with a rare field finds the newest runs of the field, page by page', async () => {
  const bot = await tenant.bot(null);
  const start = Date.now();
  const at = (index: number) => new Date(start - index * 1_000);
  // More runs of each kind than are read one by one, and the newest ones are all of the other kind.
  const made = await makeRuns(
    app,
    bot,
    Array.from({ length: 2_900 }, (_, index) => ({
      input: index % 7 === 0 ? 'heron' : 'heron osprey',
      kind: index < 2_200 ? ('CHAT' as const) : ('EXECUTE' as const),
      createdAt: at(index),
    })),
  );
  const expected = made
    .filter(({ kind, input }) => kind === 'EXECUTE' && input === 'heron osprey')
    .map(({ id }) => id);
  const page = (after: string | null) =>
    tenant.graphql(
      `query ($bot: ID!, $after: String) {
        runs(botId: $bot, filter: { kind: EXECUTE, text: "osprey" }, first: 100, after: $after) {
          edges { node { id } } pageInfo { hasNextPage endCursor }
        }
      }`,
      { bot, after },
    );
  const found: string[] = [];
  let after: string | null = null;
  do {
    const { data, errors } = await page(after);
    expect(errors).toBeUndefined();
    found.push(...data.runs.edges.map(({ node }: { node: { id: string } }) => node.id));
    after = data.runs.pageInfo.hasNextPage ? data.runs.pageInfo.endCursor : null;
  } while (after);
  expect(found).toEqual(expected);
});

/** The ids that a search of a bot finds, page by page. */
const pagesOf = async (bot: string, text: string, first: number, direction = 'first') => {
  const [cursor, more, end] =
    direction === 'first'
      ? ['after', 'hasNextPage', 'endCursor']
      : ['before', 'hasPreviousPage', 'startCursor'];
  const found: string[][] = [];
  for (let place: string | null = null; ; ) {
    const { data, errors } = await tenant.graphql(
      `query ($bot: ID!, $text: String!, $place: String) {
        runs(botId: $bot, filter: { text: $text }, ${direction}: ${first}, ${cursor}: $place) {
          edges { node { id } } pageInfo { ${more} ${end} }
        }
      }`,
      { bot, text, place },
    );
    expect(errors).toBeUndefined();
    found.push(data.runs.edges.map(({ node }: { node: { id: string } }) => node.id));
    if (!data.runs.pageInfo[more]) return found;
    place = data.runs.pageInfo[end];
  }
};

test('a phrase is found among many runs that have its words in another order', async () => {
  const bot = await tenant.bot(null);
  const start = Date.now();
  // Every run has both words, one in 40 as a phrase. Two runs share each millisecond.
  const made = await makeRuns(
    app,
    bot,
    Array.from({ length: 900 }, (_, index) => ({
      input: index % 40 === 39 ? 'a grey heron' : 'a heron, grey',
      response: index % 100 === 0 ? 'long '.repeat(20_000) : null,
      createdAt: new Date(start - Math.floor(index / 2)),
    })),
  );
  const expected = made
    .filter(({ input }) => input === 'a grey heron')
    .toSorted(newestFirst)
    .map(({ id }) => id);
  expect((await pagesOf(bot, '"grey heron"', 5)).flat()).toEqual(expected);
  expect((await pagesOf(bot, '"grey heron"', 5, 'last')).reverse().flat()).toEqual(expected);
  expect((await pagesOf(bot, '-"heron grey"', 5)).flat()).toEqual(expected);
});

describe('a search that takes too much work is refused with advice', () => {
  const advice = {
    code: 'search_too_broad',
    message: expect.stringMatching(/Narrow the time, add another condition, or .* rarer word/),
  };
  const page = { bounds: [], direction: 'desc' as const, take: 20 };

  test('when the database ends its statement', async () => {
    const database = await testDatabase();
    const query = async () => {
      throw Object.assign(new Error('canceling statement'), { code: '57014' });
    };
    const search = { query, endsStatements: true };
    const runList = createRunList({ ...database, search });
    await expect(runList.find(['any'], { text: 'heron' }, page)).rejects.toMatchObject(advice);
    const stats = createRunStats({ ...database, search, runHours: { storeAll: async () => {} } });
    const day = { from: new Date('2026-03-01'), to: new Date('2026-03-02') };
    const question = { ...day, filter: { text: 'heron' } };
    await expect(stats.count(['any'], question, 'day')).rejects.toMatchObject(advice);
    await expect(stats.latencies(['any'], question)).rejects.toMatchObject(advice);
    await expect(stats.ratings(['any'], question)).rejects.toMatchObject(advice);
    // Other filters use no connection of searches.
    await expect(runList.find(['any'], { user: 'ada' }, page)).resolves.toEqual([]);
  });

  test('before it starts, where the database cannot end it', async () => {
    const bot = await tenant.bot(null);
    const at = (index: number) => new Date(Date.UTC(2026, 2, 1) - index * 3_600_000);
    // No run of the first step has the word, and more than 50 of the others.
    await makeRuns(
      app,
      bot,
      Array.from({ length: 2_260 }, (_, index) => ({
        input: index < 2_200 ? 'osprey' : 'heron',
        createdAt: at(index),
      })),
    );
    const { prisma, search } = await testDatabase();
    const find = (text: string, filter = {}) =>
      createRunList({
        prisma,
        search: { ...search, endsStatements: false },
        maxUnended: 50,
      }).find([bot], { text, ...filter }, page);
    await expect(find('heron')).rejects.toMatchObject(advice);
    await expect(find('"heron"')).rejects.toMatchObject(advice);
    await expect(find('heron', { to: at(2_220) })).resolves.toHaveLength(20);
    await expect(find('osprey')).resolves.toHaveLength(20);
    await expect(find('gull')).resolves.toEqual([]);
  });

  test('with the code SEARCH_TOO_BROAD over GraphQL', async () => {
    const { search } = await testDatabase();
    const query = vi
      .spyOn(search, 'query')
      .mockRejectedValue(Object.assign(new Error('canceling statement'), { code: '57014' }));
    const bot = await tenant.bot(null);
    const { errors } = await tenant.graphql(
      `{ runs(botId: "${bot}", filter: { text: "heron" }) { edges { node { id } } } }`,
    );
    query.mockRestore();
    expect(errors?.[0]).toMatchObject({
      message: advice.message,
      extensions: { code: 'SEARCH_TOO_BROAD' },
    });
  });
});

test.skipIf(!inject('databaseUrl'))(
  'PostgreSQL ends a statement of a search at its time limit, and uses one core for it',
  async () => {
    const { search } = await testDatabase();
    const settings = Prisma.sql`
      SELECT current_setting('statement_timeout') AS limit,
        current_setting('max_parallel_workers_per_gather') AS workers`;
    for (const [limitMs, limit] of [
      [2_000, '2s'],
      [749.5, '750ms'],
    ] as const) {
      expect(await search.query(settings, limitMs)).toEqual([{ limit, workers: '0' }]);
    }
    await expect(search.query(Prisma.sql`SELECT pg_sleep(20)`, 10)).rejects.toMatchObject({
      code: '57014',
    });
  },
);

test('the index of texts is used for an exclusion that most runs meet', async () => {
  const { prisma } = await testDatabase();
  const bot = await tenant.bot(null);
  await makeRuns(app, bot, Array(1_000).fill({ input: 'heron' }));
  await prisma.$executeRaw`ANALYZE runs`;
  const statements: Prisma.Sql[] = [];
  const { search } = await testDatabase();
  const runList = createRunList({
    prisma,
    search: {
      ...search,
      query: (statement, limitMs) => {
        statements.push(statement);
        return search.query(statement, limitMs);
      },
    },
  });
  const page = { bounds: [], direction: 'desc' as const, take: 20 };
  expect(await runList.find([bot], { text: '-heron' }, page)).toEqual([]);
  const [found] = statements.filter(({ sql }) => sql.includes('OFFSET 0'));
  const plan = await prisma.$queryRaw(Prisma.sql`EXPLAIN ${found ?? Prisma.empty}`);
  expect(JSON.stringify(plan)).toContain('Bitmap Index Scan on runs_text_idx');
});
