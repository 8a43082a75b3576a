import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  Channel,
  Entrance,
  Environment,
  RunKind,
  RunStatus,
} from '../../../src/generated/prisma/client.ts';
import type { RunFilter } from '../../../src/runs/list/filter.ts';
import { makeId } from '../../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { runsOf } from '../../helpers/rounds.ts';
import { type MadeRun, makeRuns, newestFirst } from '../../helpers/runs.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

type Arguments = {
  filter?: RunFilter | null;
  first?: number;
  after?: string | null;
  last?: number;
  before?: string | null;
};

const LIST = `query ($botId: ID!, $filter: RunFilter, $first: Int, $after: String, $last: Int, $before: String) {
  runs(botId: $botId, filter: $filter, first: $first, after: $after, last: $last, before: $before) {
    edges { cursor node { id } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;

type Listed = {
  edges: { cursor: string; node: { id: string } }[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
};

const list = async (botId: string, args: Arguments = {}): Promise<Listed> => {
  const { data, errors } = await tenant.graphql(LIST, { botId, ...args });
  expect(errors).toBeUndefined();
  return data.runs;
};
const idsOf = ({ edges }: Listed) => edges.map(({ node }) => node.id);

const countOf = async (botId: string, filter: RunFilter): Promise<number | null> => {
  const { data, errors } = await tenant.graphql(
    'query ($id: ID!, $filter: RunFilter) { bot(id: $id) { runCount(filter: $filter) } }',
    { id: botId, filter },
  );
  expect(errors).toBeUndefined();
  return data.bot.runCount;
};

/** All pages of a list, in the order of reading. */
const pages = async (botId: string, size: number, direction: 'forward' | 'backward') => {
  const read: string[][] = [];
  for (let cursor: string | null = null; ; ) {
    const forward = direction === 'forward';
    const page: Listed = await list(
      botId,
      forward ? { first: size, after: cursor } : { last: size, before: cursor },
    );
    read.push(idsOf(page));
    const { hasNextPage, hasPreviousPage, startCursor, endCursor } = page.pageInfo;
    if (!(forward ? hasNextPage : hasPreviousPage)) return read;
    cursor = forward ? endCursor : startCursor;
  }
};

const DAYS = ['2026-03-01', '2026-03-02', '2026-03-03'];
/** Few times, so that many runs share one. They include the first and last milliseconds of days. */
const MOMENTS = DAYS.flatMap((day) =>
  ['T00:00:00.000Z', 'T12:30:00.000Z', 'T23:59:59.999Z'].map((time) => new Date(day + time)),
);

/** Texts whose words are known, so that a test can tell which contain which. */
const TEXTS = [
  '',
  'Where is my order?',
  'Your ORDER is on its way.',
  '请问今天天气怎么样',
  '天 and 气',
];
/** Searches, each with the texts that match it. */
const SEARCHES: Record<string, string[]> = {
  order: TEXTS.slice(1, 3),
  'is order': TEXTS.slice(1, 3),
  '"my order"': TEXTS.slice(1, 2),
  '"order my"': [],
  天气: TEXTS.slice(3, 4),
  nothing: [],
};

/** Creates a bot with runs of every kind, and another bot with the same. @returns the runs of the first, newest first. */
const shuffled = async () => {
  const bot = await tenant.bot(null);
  const neighbour = await tenant.bot(null);
  const deploymentIds = [makeId('dep'), makeId('dep')];
  await app.prisma.deployment.createMany({
    data: deploymentIds.map((id) => ({
      id,
      botId: bot,
      environment: 'PRODUCTION' as const,
      status: 'DEPLOYED' as const,
      source: '',
    })),
  });
  const sort = fc.record({
    deploymentId: fc.constantFrom(null, ...deploymentIds),
    environment: fc.constantFrom(...Object.values(Environment)),
    kind: fc.constantFrom(...Object.values(RunKind)),
    status: fc.constantFrom(...Object.values(RunStatus)),
    channel: fc.constantFrom(...Object.values(Channel)),
    entrance: fc.constantFrom(null, 'REST', 'GRAPHQL', 'OPENAI', 'MCP'),
    sessionId: fc.constantFrom(null, 'ada', 'bo'),
    createdAt: fc.constantFrom(...MOMENTS),
    model: fc.constantFrom(null, 'gpt', 'own'),
    errorCode: fc.constantFrom('model_error', 'model_timeout'),
    latencyMs: fc.constantFrom(null, 0, 9, 10, 14, 15, 1_499, 1_500, 1_501, 60_000),
    promptTokens: fc.constantFrom(0, 7, 2_000_000_000),
    completionTokens: fc.constantFrom(0, 8, 2_000_000_000),
    input: fc.constantFrom(...TEXTS),
    response: fc.constantFrom(null, ...TEXTS),
  });
  const sorts = fc.sample(sort, 400).map((run) => ({
    ...run,
    // Each channel but the API has one entrance of its name, which old runs have not stored.
    entrance: run.channel === 'API' ? run.entrance : run.entrance && run.channel,
    errorCode: run.status === 'FAILED' ? run.errorCode : null,
  }));
  const runs = await makeRuns(app, bot, sorts.slice(0, 300));
  await makeRuns(app, neighbour, sorts.slice(300));
  const all = runs.toSorted(newestFirst);
  return { bot, deploymentIds, all, runs: all.filter(({ kind }) => kind !== 'DRAFT') };
};

/** The meaning of a filter. */
const passes =
  ({
    user,
    status,
    channel,
    kind,
    environment,
    deploymentId,
    date,
    from,
    to,
    ...rest
  }: RunFilter) =>
  (run: MadeRun) =>
    (user == null || run.sessionId === user) &&
    (status == null || status.includes(run.status)) &&
    (channel == null || channel.includes(run.channel)) &&
    (rest.entrance == null ||
      rest.entrance.some((one) => one === (run.channel === 'API' ? run.entrance : run.channel))) &&
    (kind == null ? run.kind !== 'DRAFT' : run.kind === kind) &&
    (environment == null || run.environment === environment) &&
    (deploymentId == null || run.deploymentId === deploymentId) &&
    (date == null || run.createdAt.toISOString().startsWith(date)) &&
    (from == null || run.createdAt >= from) &&
    (to == null || run.createdAt < to) &&
    (rest.model == null || run.model === rest.model) &&
    (rest.errorCode == null || rest.errorCode.includes(run.errorCode?.toUpperCase() ?? 'none')) &&
    (rest.minLatencyMs == null || (run.latencyMs ?? 0) >= rest.minLatencyMs) &&
    (rest.minTokens == null || run.promptTokens + run.completionTokens >= rest.minTokens) &&
    (rest.text == null || contains(run, rest.text));

const contains = ({ status, input, response }: MadeRun, text: string) =>
  !['QUEUED', 'RUNNING'].includes(status) &&
  [input, response ?? ''].some((part) => SEARCHES[text]?.includes(part));

describe('the runs of a bot', () => {
  test('are listed newest first with their fields, at the top level and below the bot', async () => {
    const bot = await tenant.bot();
    await tenant.chat(bot, { message: 'One' }, { 'x-session-id': 's' });
    await tenant.graphql(
      `mutation ($id: ID!) { execute(botId: $id, input: { prompt: "Two", metadata: { job: 7 } }) { id } }`,
      { id: bot },
    );
    const fields = `{ edges { node {
      kind status channel environment user sessionId input response metadata model tokensUsed
      bot { id } deployment { active } trace { spans { name } }
    } } }`;
    const { data, errors } = await tenant.graphql(
      `query ($id: ID!) { runs(botId: $id) ${fields} bot(id: $id) { runs ${fields} } }`,
      { id: bot },
    );
    expect(errors).toBeUndefined();
    expect(data.bot.runs).toEqual(data.runs);
    const nodes = data.runs.edges.map(({ node }: { node: object }) => node);
    const common = {
      status: 'COMPLETED',
      channel: 'API',
      environment: 'PRODUCTION',
      response: 'Hello there.',
      model: 'scripted',
      tokensUsed: expect.any(Number),
      bot: { id: bot },
      deployment: { active: true },
      trace: { spans: expect.arrayContaining([{ name: 'chat scripted' }]) },
    };
    expect(nodes).toEqual([
      {
        ...common,
        kind: 'EXECUTE',
        user: null,
        sessionId: null,
        input: 'Two',
        metadata: { job: 7 },
      },
      { ...common, kind: 'CHAT', user: 's', sessionId: 's', input: 'One', metadata: null },
    ]);
  });

  test('are listed separately for several bots, under any aliases', async () => {
    const [a, b] = [await tenant.bot(null), await tenant.bot(null)];
    const made = [...(await makeRuns(app, a, [{}, {}])), ...(await makeRuns(app, b, [{}]))];
    const { data } = await tenant.graphql(
      `query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Bot {
        all: runs { edges { node { id bot { id } } } }
        one: runs(first: 1) { edges { node { id status } } }
        none: runs(filter: { status: [FAILED] }) { edges { node { id } } }
      } } }`,
      { ids: [a, b] },
    );
    const expected = [a, b].map((id) => {
      const own = made.filter(({ botId }) => botId === id).toSorted(newestFirst);
      return {
        id,
        all: { edges: own.map((run) => ({ node: { id: run.id, bot: { id } } })) },
        one: {
          edges: own.slice(0, 1).map((run) => ({ node: { id: run.id, status: 'COMPLETED' } })),
        },
        none: { edges: [] },
      };
    });
    expect(data.nodes).toEqual(expected);
  });

  test('can be paged in both directions, though many were created at the same time', async () => {
    const { bot, runs } = await shuffled();
    const ids = runs.map(({ id }) => id);
    for (const size of [37, 100]) {
      const forward = await pages(bot, size, 'forward');
      expect(forward.flat()).toEqual(ids);
      const backward = await pages(bot, size, 'backward');
      expect(backward.toReversed().flat()).toEqual(ids);
      // None is empty: 300 is a whole number of pages of 100.
      const count = Math.ceil(ids.length / size);
      expect([forward.length, backward.length]).toEqual([count, count]);
    }
  });

  test('continue after the cursor when runs were deleted and created since', async () => {
    const bot = await tenant.bot(null);
    const at = (second: number) => ({ createdAt: new Date(1_700_000_000_000 + second * 1_000) });
    const made = await makeRuns(app, bot, [1, 2, 3, 4, 5, 6].map(at));
    const ids = made.toSorted(newestFirst).map(({ id }) => id);
    const first = await list(bot, { first: 3 });
    expect(idsOf(first)).toEqual(ids.slice(0, 3));
    await app.prisma.run.deleteMany({ where: { id: { in: ids.slice(1, 4) } } });
    await makeRuns(app, bot, [at(7)]);
    const second = await list(bot, { first: 3, after: first.pageInfo.endCursor });
    expect(idsOf(second)).toEqual(ids.slice(4));
    expect(second.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const back = await list(bot, { last: 1, before: second.pageInfo.startCursor });
    expect(idsOf(back)).toEqual(ids.slice(0, 1));
    expect(back.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
  });

  test('are listed between two cursors, both exclusive', async () => {
    const { bot, runs } = await shuffled();
    const { edges } = await list(bot, { first: 20 });
    const between = { after: edges[3]?.cursor, before: edges[12]?.cursor };
    const ids = runs.map(({ id }) => id);
    expect(idsOf(await list(bot, { ...between, first: 100 }))).toEqual(ids.slice(4, 12));
    expect(idsOf(await list(bot, { ...between, last: 3 }))).toEqual(ids.slice(9, 12));
    expect(idsOf(await list(bot, { before: edges[12]?.cursor }))).toEqual(ids.slice(0, 12));
  });

  test('continue after the cursor that a run has by itself, also where the run does not match', async () => {
    const bot = await tenant.bot(null);
    const now = Date.now();
    const runs = await makeRuns(
      app,
      bot,
      [0, 1, 2, 3].map((second) => ({
        createdAt: new Date(now - second * 1_000),
        status: second === 1 ? 'FAILED' : 'COMPLETED',
      })),
    );
    const ids = runs.map(({ id }) => id);
    const { data } = await tenant.graphql(`{ run(id: "${ids[1]}") { cursor } }`);
    const { cursor } = data.run;
    const { edges } = await list(bot);
    expect(cursor).toBe(edges[1]?.cursor);
    const filter: RunFilter = { status: ['COMPLETED'] };
    expect(idsOf(await list(bot, { filter, first: 1, after: cursor }))).toEqual([ids[2]]);
    expect(idsOf(await list(bot, { filter, last: 1, before: cursor }))).toEqual([ids[0]]);
  });

  test('have 20 items on a page by default, and none if 0 are requested', async () => {
    const { bot } = await shuffled();
    expect((await list(bot)).edges).toHaveLength(20);
    expect(await list(bot, { first: 0 })).toEqual({
      edges: [],
      pageInfo: { hasNextPage: true, hasPreviousPage: false, startCursor: null, endCursor: null },
    });
    expect(await list(await tenant.bot(null), { last: 5 })).toEqual({
      edges: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
    });
  });

  test('match any combination of filters', async () => {
    const { bot, deploymentIds, all } = await shuffled();
    const some = <T>(values: T[]) => fc.option(fc.constantFrom(...values), { freq: 3 });
    const few = <T>(values: T[]) =>
      fc.option(fc.array(fc.constantFrom(...values), { minLength: 1 }), { freq: 3 });
    const filter = fc.record(
      {
        user: some(['ada', 'bo', 'nobody']),
        status: few(Object.values(RunStatus)),
        channel: few(Object.values(Channel)),
        entrance: few(Object.values(Entrance)),
        kind: some(Object.values(RunKind)),
        environment: some(Object.values(Environment)),
        deploymentId: some([...deploymentIds, 'dep_none']),
        date: some([...DAYS, '2026-02-28', '0000-01-01', '9999-12-31']),
        from: some(MOMENTS),
        to: some(MOMENTS),
        model: some(['gpt', 'own', 'none']),
        errorCode: few(['MODEL_ERROR', 'MODEL_TIMEOUT', 'INTERRUPTED']),
        minLatencyMs: some([1, 9, 10, 13, 15, 1_500, 1_501, 2_147_483_647]),
        minTokens: some([1, 8, 15, 2_147_483_647]),
        text: some(Object.keys(SEARCHES)),
      },
      { requiredKeys: [] },
    );
    const size = fc.integer({ min: 1, max: 100 });
    await fc.assert(
      fc.asyncProperty(filter, size, fc.boolean(), fc.nat(), async (filter, size, backward, at) => {
        const expected = all.filter(passes(filter)).map(({ id }) => id);
        const whole = await list(bot, { filter, first: 100 });
        expect(idsOf(whole)).toEqual(expected.slice(0, 100));
        expect(whole.pageInfo.hasNextPage).toBe(expected.length > 100);
        expect(await countOf(bot, filter)).toBe(filter.text == null ? expected.length : null);
        const index = whole.edges.length === 0 ? -1 : at % whole.edges.length;
        const cursor = whole.edges[index]?.cursor;
        if (cursor === undefined) return;
        const page = await list(
          bot,
          backward
            ? { filter, last: size, before: cursor }
            : { filter, first: size, after: cursor },
        );
        expect(idsOf(page)).toEqual(
          backward
            ? expected.slice(Math.max(index - size, 0), index)
            : expected.slice(index + 1, index + 1 + size),
        );
      }),
      runsOf(20),
    );
  });

  test('are found by a word beyond the runs that a search reaches first', async () => {
    const bot = await tenant.bot(null);
    const day = 24 * 60 * 60 * 1_000;
    const made = Array.from({ length: 2_300 }, (_, index) => ({
      createdAt: new Date(Date.parse('2026-03-01') + index * (day / 500)),
      input: index % 700 === 1 ? 'A heron' : index === 0 ? 'an osprey' : 'a sparrow',
    }));
    const runs = (await makeRuns(app, bot, made)).toSorted(newestFirst);
    const found = async (text: string, args: Arguments) =>
      idsOf(await list(bot, { ...args, filter: { text } }));
    const idsWith = (word: string) =>
      runs.filter(({ input }) => input.includes(word)).map(({ id }) => id);
    expect(await found('osprey', { first: 1 })).toEqual(idsWith('osprey'));
    expect(await found('heron', { first: 10 })).toEqual(idsWith('heron'));
    expect(await found('heron', { first: 1 })).toEqual(idsWith('heron').slice(0, 1));
    expect(await found('heron', { last: 2 })).toEqual(idsWith('heron').slice(-2));
    expect(await found('sparrow', { first: 100 })).toEqual(idsWith('sparrow').slice(0, 100));
    expect(await found('heron or osprey', { last: 2 })).toEqual([
      ...idsWith('heron').slice(-1),
      ...idsWith('osprey'),
    ]);
    expect(await found('an -osprey', { first: 1 })).toEqual([]);
  });

  test('can be searched in one bot at a time', async () => {
    const ids = [await tenant.bot(null), await tenant.bot(null)];
    const { errors } = await tenant.graphql(
      `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Bot {
        runs(filter: { text: "word" }) { edges { cursor } }
      } } }`,
      { ids },
    );
    expect(errors?.[0]?.extensions).toEqual({
      code: 'INVALID_REQUEST',
      details: [{ path: 'filter.text', message: 'searches one bot at a time' }],
    });
  });

  test.each<[string, object, string[]]>([
    ['a malformed cursor', { after: 'nonsense' }, ['after']],
    ['a cursor of another format', { before: btoa('GPC:S:x') }, ['before']],
    ['a cursor with U+0000', { after: btoa('1.\0') }, ['after']],
    ['a negative page size', { first: -1 }, ['first']],
    ['a page size of 101', { last: 101 }, ['last']],
    ['both directions', { first: 1, last: 1 }, ['last']],
    ['an invalid user', { filter: { user: 'a b' } }, ['filter.user']],
    ['a date that does not exist', { filter: { date: '2026-02-30' } }, ['filter.date']],
    ['an empty list of statuses', { filter: { status: [] } }, ['filter.status']],
    ['an empty list of channels', { filter: { channel: [] } }, ['filter.channel']],
    ['an empty list of error codes', { filter: { errorCode: [] } }, ['filter.errorCode']],
    [
      'a minimum of 0',
      { filter: { minLatencyMs: 0, minTokens: 0 } },
      ['filter.minLatencyMs', 'filter.minTokens'],
    ],
    ['a search for no word', { filter: { text: '"!" -' } }, ['filter.text']],
    ['a search of 257 characters', { filter: { text: 'x'.repeat(257) } }, ['filter.text']],
    [
      'several invalid arguments',
      { after: '!', first: 200, filter: { date: 'today', user: '' } },
      ['after', 'filter.date', 'filter.user', 'first'],
    ],
  ])('are refused for %s', async (_what, args, paths) => {
    const bot = await tenant.bot(null);
    const { errors } = await tenant.graphql(LIST, { botId: bot, ...args });
    expect(errors?.[0]?.extensions.code).toBe('INVALID_REQUEST');
    const details = errors?.[0]?.extensions.details as { path: string }[];
    expect(details.map(({ path }) => path).toSorted()).toEqual(paths);
    const nested = await tenant.graphql(
      `query ($id: ID!, $filter: RunFilter, $first: Int, $after: String, $last: Int, $before: String) {
        bot(id: $id) { runs(filter: $filter, first: $first, after: $after, last: $last, before: $before) { edges { cursor } } }
      }`,
      { id: bot, ...args },
    );
    expect(nested.errors?.[0]?.extensions.details).toEqual(details);
  });

  test('are listed only with the scope RUNS and access to the bot', async () => {
    const bot = await tenant.bot(null);
    const query = `{ runs(botId: "${bot}") { edges { cursor } } }`;
    const nested = `{ bot(id: "${bot}") { runs { edges { cursor } } } }`;
    const counted = `{ bot(id: "${bot}") { runCount } }`;
    const codeOf = async (key: string, query: string) =>
      (await app.graphql(key, query)).errors?.[0]?.extensions.code;
    const chatting = await tenant.key({ scopes: ['CHAT', 'ADMIN', 'DEPLOY'] });
    const otherKey = (await app.tenant()).apiKey;
    const elsewhere = await tenant.key({ botIds: [await tenant.bot(null)] });
    for (const document of [query, nested, counted]) {
      expect(await codeOf(chatting, document)).toBe('INSUFFICIENT_SCOPE');
      expect(await codeOf(otherKey, document)).toBe('BOT_ACCESS_DENIED');
      expect(await codeOf(elsewhere, document)).toBe('BOT_ACCESS_DENIED');
    }
  });
});
