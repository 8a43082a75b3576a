import fc from 'fast-check';
import { beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { createRunExport } from '../../../src/runs/list/export.ts';
import type { RunFilter } from '../../../src/runs/list/filter.ts';
import { createRunList } from '../../../src/runs/list/list.ts';
import { readWords, wordsOf } from '../../../src/runs/search/search-words.ts';
import { createRunStats } from '../../../src/runs/stats/stats.ts';
import type { Place } from '../../../src/storage/keyset.ts';
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

describe('a page that ends before it is full', () => {
  const day = Date.UTC(2026, 2, 1);
  const HERON = ['heron', '"grey heron"', '-osprey', '"grey hérón"', 'osprey -rare'] as const;
  const isFound = (input: string, text: (typeof HERON)[number]) =>
    ({
      heron: input.includes('heron'),
      '"grey heron"': input.includes('grey heron'),
      '-osprey': !input.includes('osprey'),
      '"grey hérón"': input.includes('grey hérón'),
      'osprey -rare': input.includes('osprey'),
    })[text];
  /** The ids that a list finds, page by page, each from where the one before ended. */
  const pagesFrom = async (
    runList: ReturnType<typeof createRunList>,
    bot: string,
    filter: RunFilter,
    direction: 'asc' | 'desc',
  ) => {
    const pages: string[][] = [];
    for (let place: Place | undefined; ; ) {
      const bounds = place ? [{ place, direction }] : [];
      const { rows, reached } = await runList.find([bot], filter, { bounds, direction, take: 5 });
      pages.push(rows.map(({ id }) => id));
      if (!reached && rows.length < 5) return pages;
      place = reached ?? rows.at(-1)?.place;
    }
  };

  test.each([true, false])('lets the next one go on, where statements end: %s', async (ends) => {
    const bot = await tenant.bot(null);
    const inputs = ['a grey heron', 'osprey', 'heron, grey', 'grey hérón osprey', 'hérón grey'];
    const made = await makeRuns(
      app,
      bot,
      Array.from({ length: 350 }, (_, index) => ({
        input: index % 11 === 0 ? (inputs[(index / 11) % 5] ?? '') : 'osprey',
        kind: index % 2 === 0 ? ('CHAT' as const) : ('EXECUTE' as const),
        // Three runs share each millisecond, and a month without runs is among them.
        createdAt: new Date(day - Math.floor(index / 3) - (index > 200 ? 30 * 86_400_000 : 0)),
      })),
    );
    const { prisma, search } = await testDatabase();
    const runList = createRunList({
      prisma,
      search: { ...search, endsStatements: ends },
      searchBounds: { firstWindowRuns: 40, pageWork: 60, maxUnended: 90 },
    });
    for (const text of HERON) {
      for (const kind of text === 'heron' ? [undefined, 'EXECUTE' as const] : [undefined]) {
        const expected = made
          .filter((run) => isFound(run.input, text) && (kind ?? run.kind) === run.kind)
          .toSorted(newestFirst)
          .map(({ id }) => id);
        const newest = await pagesFrom(runList, bot, { text, kind }, 'desc');
        expect(newest.flat(), text).toEqual(expected);
        const oldest = await pagesFrom(runList, bot, { text, kind }, 'asc');
        expect(oldest.flat().reverse(), text).toEqual(expected);
        if (text === 'heron' && !kind) expect(newest.some(({ length }) => length < 5)).toBe(true);
      }
    }
  });

  test('has a cursor from which the next page goes on, also without an entry', async () => {
    const bot = await tenant.bot(null);
    // The most text that is read of a run, so that a page reads a few of them.
    const long = 'x '.repeat(16_000);
    const [oldest] = await makeRuns(
      app,
      bot,
      Array.from({ length: 40 }, (_, index) => ({
        input: `${index === 0 ? 'grey hérón' : 'hérón grey'} ${long}`,
        response: long,
        createdAt: new Date(day + index),
      })),
    );
    const newest = await pagesOf(bot, '"grey hérón"', 3);
    expect(newest[0]).toEqual([]);
    expect(newest.flat()).toEqual([oldest?.id]);
    const backward = await pagesOf(bot, '"hérón grey"', 3, 'last');
    expect(backward.flat()).toHaveLength(39);
  });

  test('is no end of an export', async () => {
    const bot = await tenant.bot(null);
    await makeRuns(
      app,
      bot,
      Array.from({ length: 300 }, (_, index) => ({
        input: index % 100 === 0 ? 'heron' : 'osprey',
        createdAt: new Date(day - index),
      })),
    );
    const database = await testDatabase();
    const runList = createRunList({
      ...database,
      searchBounds: { firstWindowRuns: 40, pageWork: 1 },
    });
    const parts = await Array.fromAsync(
      createRunExport({ ...database, runList }).start(
        { accountId: tenant.accountId, botId: bot, filter: { text: 'heron' }, format: 'CSV' },
        {
          signal: new AbortController().signal,
          longRead: (read) => read(),
          search: (_filter, read) => read(),
        },
      ),
    );
    expect(parts.at(-1)).toMatchObject({ rows: 3, done: true, truncated: false });
  });

  test('keeps what it has found when a later statement takes too long', async () => {
    const bot = await tenant.bot(null);
    const made = await makeRuns(
      app,
      bot,
      Array.from({ length: 200 }, (_, index) => ({
        input: index % 30 === 0 ? 'heron' : 'osprey',
        createdAt: new Date(day - index),
      })),
    );
    const { prisma, search } = await testDatabase();
    let windows = 0;
    const runList = createRunList({
      prisma,
      search: {
        ...search,
        query: async (statement, limitMs) => {
          const isWindow = statement.sql.includes('AS MATERIALIZED');
          if (isWindow) windows += 1;
          if (isWindow && windows === 2)
            throw Object.assign(new Error('canceling statement'), { code: '57014' });
          return search.query(statement, limitMs);
        },
      },
      searchBounds: { firstWindowRuns: 50 },
    });
    const page = { bounds: [], direction: 'desc' as const, take: 20 };
    const { rows, reached } = await runList.find([bot], { text: 'heron' }, page);
    expect(rows.map(({ id }) => id)).toEqual([made[0]?.id, made[30]?.id]);
    const rest = await runList.find(
      [bot],
      { text: 'heron' },
      { ...page, bounds: [{ place: reached ?? [0, ''], direction: 'desc' }] },
    );
    expect(rest.rows.map(({ id }) => id)).toEqual(
      [60, 90, 120, 150, 180].map((at) => made[at]?.id),
    );
  });
});

test('a run with a phrase has the words of the phrase next to each other', async () => {
  const { prisma } = await testDatabase();
  const word = fc.constantFrom('grey', 'Heron', 'a1', '7');
  const between = [
    ' ',
    ', ',
    '-',
    '_',
    '/',
    '@',
    "'",
    '&amp;',
    '&',
    ';',
    '://',
    '天',
    'é',
    '\n',
    ':',
  ];
  const marks = [
    '<b x="y>z">',
    '<!-- a > b -->',
    '</i>',
    'http://',
    '<',
    '>',
    '#',
    '%20',
    '+',
    '.',
  ];
  const gap = fc.array(fc.constantFrom(' ', ' ', ' ', ...between, ...marks), { maxLength: 3 });
  const sentence = fc
    .array(fc.tuple(word, gap), { maxLength: 5 })
    .map((parts) => parts.flat(2).join(''));
  const texts = fc.array(sentence, { minLength: 200, maxLength: 200 });
  const words = fc.tuple(word, word).map(([one, other]) => `${one} ${other}`.toLowerCase());
  let found = 0;
  await fc.assert(
    fc.asyncProperty(texts, words, async (texts, words) => {
      const phrase = `"${words}"`;
      const { adjacent = [] } = (await readWords(prisma, phrase)) ?? {};
      expect(adjacent).toHaveLength(1);
      const runs = await prisma.$queryRaw<{ input: string; isAdjacent: boolean }[]>(Prisma.sql`
        SELECT input, response, ${Prisma.join(adjacent, ' AND ')} AS "isAdjacent" FROM (
          SELECT 'bot' AS bot_id, now() AS created_at, input, lag(input) OVER () AS response
          FROM unnest(${texts}::text[]) AS input
        ) AS runs
        WHERE run_lexemes(bot_id, created_at, input, response) @@ ${wordsOf(phrase)}`);
      expect(runs.filter(({ isAdjacent }) => !isAdjacent)).toEqual([]);
      found += runs.length;
    }),
    { numRuns: 40 },
  );
  expect(found).toBeGreaterThan(100);
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
    const stats = createRunStats({ ...database, search });
    const day = { from: new Date('2026-03-01'), to: new Date('2026-03-02') };
    const question = { ...day, filter: { text: 'heron' } };
    const reader = stats.of(['any'], question);
    await expect(reader.counts('day')).rejects.toMatchObject(advice);
    await expect(reader.latencies()).rejects.toMatchObject(advice);
    await expect(reader.ratings()).rejects.toMatchObject(advice);
    // Other filters use no connection of searches.
    await expect(runList.find(['any'], { user: 'ada' }, page)).resolves.toEqual({ rows: [] });
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
  expect(await runList.find([bot], { text: '-heron' }, page)).toEqual({ rows: [] });
  const [found] = statements.filter(({ sql }) => sql.includes('AS MATERIALIZED'));
  const plan = await prisma.$queryRaw(Prisma.sql`EXPLAIN ${found ?? Prisma.empty}`);
  expect(JSON.stringify(plan)).toContain('Bitmap Index Scan on runs_text_idx');
});
