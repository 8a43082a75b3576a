import { PGlite } from '@electric-sql/pglite';
import { createClient } from 'graphql-sse';
import { beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { MAX_READ_BYTES } from '../../src/schema/admission/sizes.ts';
import { createLongReads } from '../../src/schema/long-reads.ts';
import { createReadBudget, type ReadBudget } from '../../src/schema/read-budget.ts';
import { makeId } from '../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { testDatabase } from '../helpers/database.ts';
import { WAYS } from '../helpers/transports.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
/** Each text takes 1 MiB, in 2 bytes a character. */
const TEXT = 'é'.repeat(MIB / 2);
const COUNT = 20;

let app: TestApp;
let tenant: Tenant;
let bot: string;
let runIds: string[];
let session: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
  const { prisma } = app;
  session = makeId('ses');
  const environment = 'PRODUCTION' as const;
  await prisma.session.create({
    data: { id: session, botId: bot, environment, sessionId: 'user-1' },
  });
  runIds = [];
  for (let index = 0; index < COUNT; index += 1) {
    const id = makeId('run');
    runIds.unshift(id);
    const run = {
      id,
      botId: bot,
      environment,
      kind: 'CHAT',
      status: 'COMPLETED',
      channel: 'API',
    } as const;
    await prisma.run.create({
      data: { ...run, input: TEXT, metadata: { note: TEXT }, createdAt: new Date(1e12 + index) },
    });
    const message = { id: makeId('msg'), sessionKey: session, runId: id, turn: index, position: 0 };
    await prisma.message.create({ data: { ...message, role: 'USER', text: TEXT } });
  }
});

/** The data or the first error of a query. */
const runQuery = async (query: string, variables = {}) => {
  const [result] = await WAYS.HTTP(app, tenant.apiKey, { query, variables });
  return { data: result?.data as never, error: result?.errors?.[0] };
};

const TOO_MUCH = {
  message: expect.stringMatching(/larger than 8 MiB.*fewer entries or fewer fields/),
  extensions: { code: 'REQUEST_TOO_LARGE' },
};

const RUNS = `edges { node { id input } } pageInfo { hasNextPage endCursor }`;
type Page = {
  edges: { node: { id: string } }[];
  pageInfo: { hasNextPage: boolean; endCursor: string };
};

describe('a page of long texts', () => {
  test('ends early, and continues after its last entry', async () => {
    const seen: string[] = [];
    const sizes: number[] = [];
    let after: string | null = null;
    do {
      const { data, error }: { data: { runs: Page }; error: unknown } = await runQuery(
        `query ($bot: ID!, $after: String) { runs(botId: $bot, first: 100, after: $after) { ${RUNS} } }`,
        { bot, after },
      );
      expect(error).toBeUndefined();
      const { edges, pageInfo } = data.runs;
      seen.push(...edges.map(({ node }) => node.id));
      sizes.push(edges.length);
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
    } while (after !== null);
    expect(sizes).toEqual([8, 8, 4]);
    expect(seen).toEqual(runIds);
  });

  test('ends early in the backward direction, too', async () => {
    const { data }: { data: { bot: { runs: Page & { pageInfo: { hasPreviousPage: boolean } } } } } =
      await runQuery(
        `query ($bot: ID!) { bot(id: $bot) { runs(last: 12) { edges { node { id input } } pageInfo { hasPreviousPage } } } }`,
        { bot },
      );
    const { edges, pageInfo } = data.bot.runs;
    expect(edges.map(({ node }) => node.id)).toEqual(runIds.slice(-8));
    expect(pageInfo.hasPreviousPage).toBe(true);
  });

  test('ends early over REST, and continues at its cursor', async () => {
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const more: string = cursor && `&cursor=${cursor}`;
      const answer = await fetch(`${app.url}/v1/bots/${bot}/runs?limit=100${more}`, {
        headers: tenant.headers,
      });
      expect(answer.status).toBe(200);
      const text = await answer.text();
      expect(text.length).toBeLessThan(MAX_READ_BYTES);
      const { runs, next_cursor } = JSON.parse(text);
      seen.push(...runs.map(({ run_id }: { run_id: string }) => run_id));
      cursor = next_cursor;
    }
    expect(seen).toEqual(runIds);
  });

  test('is complete if the texts are not selected', async () => {
    const { data }: { data: { runs: Page } } = await runQuery(
      `query ($bot: ID!) { runs(botId: $bot, first: 100) { edges { node { id } } pageInfo { hasNextPage } } }`,
      { bot },
    );
    expect(data.runs.edges).toHaveLength(COUNT);
  });

  test('counts a text for each selection', async () => {
    const { data }: { data: { runs: Page } } = await runQuery(
      `query ($bot: ID!) { runs(botId: $bot) { edges { node { ...f again: input } } more: edges { node { ...f } } } } fragment f on Run { id input }`,
      { bot },
    );
    // Aliases of `edges` count too.
    expect(data.runs.edges).toHaveLength(2);
  });

  test.each([
    ['messages', 'messages(first: 100) { edges { node { text } } pageInfo { hasNextPage } }'],
    [
      'metadata',
      'bot { runs(first: 100) { edges { node { metadata } } pageInfo { hasNextPage } } }',
    ],
  ])('is limited for %s too', async (_what, below) => {
    const { data }: { data: { bot: { session: { messages: Page } & { bot: { runs: Page } } } } } =
      await runQuery(
        below.startsWith('bot')
          ? `query ($bot: ID!) { bot(id: $bot) { session: activeDeployment { ${below} } } }`
          : `query ($bot: ID!) { bot(id: $bot) { session(id: "user-1") { ${below} } } }`,
        { bot },
      );
    const page = data.bot.session.messages ?? data.bot.session.bot.runs;
    expect(page.edges).toHaveLength(below.startsWith('bot') ? 7 : 8);
    expect(page.pageInfo.hasNextPage).toBe(true);
  });
});

describe('an operation that would read more than 8 MiB of text', () => {
  const ids = () => JSON.stringify(runIds);
  test.each<[string, () => string]>([
    [
      'pages with many aliases',
      () =>
        `{ ${[1, 2, 3, 4, 5, 6].map((name) => `a${name}: runs(botId: "${bot}", first: 100) { edges { node { input response } } }`).join(' ')} }`,
    ],
    ['nodes by their ids', () => `{ nodes(ids: ${ids()}) { ... on Run { input } } }`],
    [
      'runs in separate fields',
      () =>
        `{ ${runIds.map((id, index) => `a${index}: run(id: "${id}") { metadata }`).join(' ')} }`,
    ],
    [
      'one text with many aliases',
      () =>
        `{ run(id: "${runIds[0]}") { ${runIds.map((_, index) => `a${index}: input`).join(' ')} } }`,
    ],
    [
      'the runs of messages',
      () =>
        `{ bot(id: "${bot}") { session(id: "user-1") { messages { edges { node { run { input } } } } } } }`,
    ],
    [
      'one page below many parents',
      () =>
        `{ runs(botId: "${bot}") { edges { node { bot { runs(first: 1) { edges { node { input } } } } } } } }`,
    ],
  ])('is refused: %s', async (_what, query) => {
    const delivered = deliveredBytes();
    const { error } = await runQuery(query());
    expect(error).toMatchObject(TOO_MUCH);
    expect(await delivered()).toBeLessThan(1.2 * MAX_READ_BYTES);
  });

  test('is refused for sources, on any path', async () => {
    const source = `# ${'x'.repeat(256 * KIB - 2)}`;
    const { prisma } = app;
    const botId = await tenant.bot(null);
    const first = { botId, environment: 'PRODUCTION', status: 'FAILED' } as const;
    const deploymentId = makeId('dep');
    await prisma.deployment.create({ data: { ...first, id: deploymentId, source } });
    await prisma.run.createMany({
      data: Array.from({ length: 70 }, () => ({
        ...{ id: makeId('run'), botId, deploymentId, environment: 'PRODUCTION' as const },
        ...{
          kind: 'CHAT' as const,
          status: 'COMPLETED' as const,
          channel: 'API' as const,
          input: '',
        },
      })),
    });
    const runs = (first: number) =>
      `{ runs(botId: "${botId}", first: ${first}) { edges { node { deployment { source } } } } }`;
    expect((await runQuery(runs(30))).error).toBeUndefined();
    expect((await runQuery(runs(70))).error).toMatchObject(TOO_MUCH);
  });

  test('is refused for facts', async () => {
    const { prisma } = app;
    const fact = (index: number) => ({
      sessionKey: session,
      name: `fact_${index}`,
      value: 'x'.repeat(4_000),
    });
    const memory = `{ bot(id: "${bot}") { session(id: "user-1") { memory { name value } } } }`;
    await prisma.memoryEntry.createMany({ data: Array.from({ length: 1_800 }, (_, i) => fact(i)) });
    expect((await runQuery(memory)).error).toBeUndefined();
    await prisma.memoryEntry.createMany({
      data: Array.from({ length: 300 }, (_, i) => fact(1_900 + i)),
    });
    const answer = await runQuery(
      `{ bot(id: "${bot}") { session(id: "user-1") { a: memory { value } b: memory { value } } } }`,
    );
    expect(answer.error).toMatchObject(TOO_MUCH);
  });

  test('does not block other requests', async () => {
    const query = `query ($id: ID!) { run(id: $id) { input } }`;
    const answers = await Promise.all(runIds.slice(0, 12).map((id) => runQuery(query, { id })));
    expect(answers.map(({ error }) => error)).toEqual(answers.map(() => undefined));
    for (const id of runIds.slice(0, 10)) {
      const answer = await fetch(`${app.url}/v1/bots/${bot}/runs/${id}`, {
        headers: tenant.headers,
      });
      expect(answer.status).toBe(200);
      await answer.arrayBuffer();
    }
  });
});

test('each event of a subscription may contain 8 MiB of text', async () => {
  const botId = await tenant.bot();
  const client = createClient({ url: `${app.url}/graphql/stream`, headers: tenant.headers });
  const events = client.iterate({
    query: `subscription { runChanged(botId: "${botId}") { input } }`,
  });
  const first = events.next();
  const message = 'x'.repeat(1_000_000);
  let seen = 0;
  const chats = (async () => {
    while (seen < 10) await tenant.chat(botId, { message });
  })();
  for (let event = await first; seen < 10; event = await events.next()) {
    expect(event.value.errors).toBeUndefined();
    expect(event.value.data.runChanged.input).toHaveLength(message.length);
    seen += 1;
  }
  await events.return?.();
  await chats;
});

/** The bytes that PGlite has returned since, as JSON; 0 on PostgreSQL. */
function deliveredBytes() {
  if (inject('databaseUrl')) return async () => 0;
  const spies = [vi.spyOn(PGlite.prototype, 'query'), vi.spyOn(PGlite.prototype, 'transaction')];
  onTestFinished(() => void vi.restoreAllMocks());
  return async () => {
    const results = await Promise.all(
      spies.flatMap(({ mock }) => mock.results.map(({ value }) => value)),
    );
    return Buffer.byteLength(JSON.stringify(results));
  };
}

describe('long reads', () => {
  test('run one at a time for each account, and four at a time in total', async () => {
    const longReads = createLongReads();
    const { signal } = new AbortController();
    const reads = Array.from({ length: 12 }, (_, index) => ({
      account: `acc_${Math.floor(index / 2)}`,
      end: Promise.withResolvers<void>(),
    }));
    const begun: number[] = [];
    const done = reads.map(({ account, end }, index) =>
      longReads(account, signal, () => {
        begun.push(index);
        return end.promise;
      }),
    );
    const settled = () => new Promise((resolve) => setImmediate(resolve));
    await settled();
    expect(begun).toEqual([0, 2, 4, 6]);
    reads[2]?.end.reject(new Error('gone'));
    await expect(done[2]).rejects.toThrow('gone');
    await settled();
    expect(begun).toEqual([0, 2, 4, 6, 8]);
    for (const { end } of reads) end.resolve();
    await Promise.allSettled(done);
    expect(begun.toSorted((a, b) => a - b)).toEqual(reads.map((_, index) => index));
  });

  test('leave their place if the client disconnects while all slots are taken', async () => {
    const longReads = createLongReads();
    const client = new AbortController();
    const { signal } = new AbortController();
    const held = Promise.withResolvers<void>();
    const active = ['a', 'b', 'c', 'd'].map((account) =>
      longReads(account, signal, () => held.promise),
    );
    const gone = longReads('e', client.signal, async () => 'gone');
    const next = longReads('f', signal, async () => 'next');
    await new Promise((resolve) => setImmediate(resolve));
    client.abort();
    await expect(gone).rejects.toThrow('aborted');
    held.resolve();
    await Promise.all(active);
    expect(await next).toBe('next');
    // All four slots are free again.
    const ends = ['a', 'b', 'c', 'd'].map(() => Promise.withResolvers<void>());
    let begun = 0;
    const again = ends.map(({ promise }, index) =>
      longReads(`again_${index}`, signal, () => {
        begun += 1;
        return promise;
      }),
    );
    await expect.poll(() => begun).toBe(4);
    for (const { resolve } of ends) resolve();
    await Promise.all(again);
  });

  test('of an account never run concurrently', async () => {
    const { prisma } = app;
    let active = 0;
    let most = 0;
    const findMany = async (query: Parameters<typeof prisma.run.findMany>[0]) => {
      // The app polls for cancelled runs at any time.
      if (query?.where?.cancelRequested) return prisma.run.findMany(query);
      active += 1;
      most = Math.max(most, active);
      const found = await prisma.run.findMany(query);
      active -= 1;
      return found;
    };
    const run = new Proxy(prisma.run, {
      get: (model, name) => (name === 'findMany' ? findMany : Reflect.get(model, name)),
    });
    const other = await startApp({
      database: {
        ...(await testDatabase()),
        prisma: new Proxy(prisma, {
          get: (client, name) => (name === 'run' ? run : Reflect.get(client, name)),
        }),
      },
    });
    const query = `{ runs(botId: "${bot}", first: 4) { edges { node { input } } } }`;
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => other.graphql(tenant.apiKey, query)),
    );
    expect(answers.map(({ data }) => data.runs.edges.length)).toEqual([4, 4, 4, 4, 4, 4]);
    expect(most).toBe(1);
  });
});

describe('the read budget of an operation', () => {
  /** Shares a budget among lists of entries with these bytes, which are measured two at a time. */
  const share = async (budget: ReadBudget, lists: number[][], times = 1) => {
    const named = lists.map((sizes) => ({ ids: sizes.map(String), times }));
    const measured: number[] = [];
    const measure = async (ids: string[]) => {
      const sizes = ids.slice(0, 2).map(Number);
      measured.push(...sizes);
      return sizes;
    };
    const pages = await budget.share(named, measure);
    return { counts: pages.map((page) => page.length), measured };
  };

  test('is shared evenly by lists, each of which returns at least one entry', async () => {
    const budget = createReadBudget();
    const lists = [[MIB, MIB, MIB], [5 * MIB, MIB], [], [MIB]];
    expect((await share(budget, lists)).counts).toEqual([2, 1, 0, 1]);
    expect(budget.left(2)).toBe(0);
    await expect(share(budget, [[1]])).rejects.toThrow(/8 MiB/);
  });

  test('counts an entry as often as the response shows it', async () => {
    expect((await share(createReadBudget(), [[MIB, MIB, MIB]], 4)).counts).toEqual([2]);
  });

  test('is not needed for entries without bytes', async () => {
    const budget = createReadBudget();
    budget.spend(8 * MIB, 2);
    expect((await share(budget, [[0, 0]])).counts).toEqual([2]);
  });

  test('measures no entries behind the first one that does not fit', async () => {
    const { counts, measured } = await share(createReadBudget(), [
      [MIB, 5 * MIB, 2, 3, 4, 5, 6],
      [7, 8 * MIB, 9, 10, 11],
    ]);
    expect(counts).toEqual([1, 1]);
    expect(measured).toEqual([MIB, 5 * MIB, 7, 8 * MIB]);
  });

  test('is given to one page after the other', async () => {
    const budget = createReadBudget();
    const pages = await Promise.all([share(budget, [[5 * MIB]]), share(budget, [[MIB, 3 * MIB]])]);
    expect(pages.map(({ counts }) => counts)).toEqual([[1], [1]]);
  });

  test('allows one row of 16 MiB if nothing else is read', async () => {
    const budget = createReadBudget();
    expect((await share(budget, [[16 * MIB, 1]])).counts).toEqual([1]);
    expect(() => budget.spend(1, 1)).toThrow(/8 MiB/);
    expect(() => createReadBudget().spend(16 * MIB, 2)).toThrow(/8 MiB/);
    expect(() => createReadBudget().spend(16 * MIB + 1, 1)).toThrow(/8 MiB/);
    expect(() => createReadBudget().spend(16 * MIB, 1)).not.toThrow();
  });

  test('runs no further read once it has refused one', async () => {
    const budget = createReadBudget();
    let reads = 0;
    const read = () =>
      budget.inTurn(async () => {
        reads += 1;
        budget.spend(5 * MIB, 10);
      });
    const results = await Promise.allSettled([read(), read(), read(), read()]);
    expect(results.map(({ status }) => status)).toEqual([
      ...['fulfilled', 'rejected', 'rejected', 'rejected'],
    ]);
    expect(reads).toBe(2);
    await expect(read()).rejects.toThrow(/8 MiB/);
    expect(reads).toBe(2);
  });
});
