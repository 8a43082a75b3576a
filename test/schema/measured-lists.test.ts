import { PGlite } from '@electric-sql/pglite';
import { parse } from 'graphql';
import pg from 'pg';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { newApiKey } from '../../src/accounts/new-key.ts';
import { MAX_READ_BYTES } from '../../src/schema/admission/sizes.ts';
import { weigh } from '../../src/schema/admission/weight.ts';
import { schema } from '../../src/schema/index.ts';
import { makeId } from '../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { recordStatements } from '../helpers/statements.ts';

const times = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => make(index)).join(' ');
const list = <Entry>(count: number, make: (index: number) => Entry) =>
  Array.from({ length: count }, (_, index) => make(index));

const ENVIRONMENT = 'PRODUCTION' as const;
/** Each takes 6 bytes of JSON. */
const CONTROL = '\u0001';
const NOTE = CONTROL.repeat(2_000);
const NAME = CONTROL.repeat(200);
const ORIGIN = `https://${'a'.repeat(240)}.test`;
const VARIABLE = 'A'.repeat(128);
const TOO_MUCH = {
  message: expect.stringMatching(/larger than 8 MiB.*fewer entries or fewer fields/),
  extensions: { code: 'REQUEST_TOO_LARGE' },
};

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
  await prisma.bot.update({
    where: { id: bot },
    data: { name: NAME, webOrigins: list(50, () => ORIGIN) },
  });

  const diagnostic = {
    ...{ severity: 'ERROR', code: 'unknown-setting', message: CONTROL.repeat(400) },
    ...{ line: 1, column: 1, endLine: 1, endColumn: 1 },
  };
  await prisma.deployment.createMany({
    data: list(60, () => ({
      ...{ id: makeId('dep'), botId: bot, environment: ENVIRONMENT, status: 'FAILED' as const },
      ...{ source: '', message: CONTROL.repeat(1_000), diagnostics: list(150, () => diagnostic) },
      ...{ envNames: list(200, () => VARIABLE), sentEnvNames: list(200, () => VARIABLE) },
    })),
  });

  session = makeId('ses');
  await prisma.session.create({
    data: { id: session, botId: bot, environment: ENVIRONMENT, sessionId: '😀'.repeat(256) },
  });
  await prisma.memoryEntry.createMany({
    data: list(256, (index) => ({
      ...{ sessionKey: session, name: `fact_${index}`.padEnd(64, '_') },
      value: CONTROL.repeat(4_000),
    })),
  });

  runIds = list(100, () => makeId('run'));
  const span = {
    ...{ spanId: '0'.repeat(16), parentId: null, name: 'chat', startedAt: 1, durationMs: 1 },
    ...{ status: 'ok', attributes: { text: 'x'.repeat(1_000) } },
  };
  await prisma.run.createMany({
    data: runIds.map((id) => ({
      ...{ id, botId: bot, environment: ENVIRONMENT, kind: 'CHAT' as const },
      ...{ status: 'FAILED' as const, channel: 'API' as const, sessionId: '😀'.repeat(256) },
      ...{ input: CONTROL.repeat(300), response: CONTROL.repeat(300), model: NAME },
      ...{ errorCode: 'internal_error', errorMessage: 'x'.repeat(300) },
      ...{ toolsCalled: list(64, (index) => `tools.${index}${NAME}`.slice(0, 134)) },
      ...{ spans: list(20, () => span), finishedAt: new Date(), latencyMs: 1 },
    })),
  });
  await prisma.$executeRaw`
    INSERT INTO feedback (run_id, author, bot_id, run_created_at, rating, note)
    SELECT run.id, 'key_' || number, ${bot}, now(), 'UP', ${NOTE}
    FROM unnest(${runIds}::text[]) AS run(id) CROSS JOIN generate_series(1, 20) AS number`;
});

const runs = (first: number, below: string) =>
  `{ runs(botId: "${bot}", first: ${first}) { edges { node { ${below} } } } }`;
const ofBot = (below: string) => `{ bot(id: "${bot}") { ${below} } }`;
const deployments = (first: number, below: string) =>
  ofBot(`deployments(first: ${first}) { edges { node { ${below} } } pageInfo { hasNextPage } }`);
const facts = (below: string) => `session(id: "${'😀'.repeat(256)}") { ${below} }`;

describe('a text or list that is measured', () => {
  test.each<[string, () => string]>([
    [
      'notes of ratings',
      () =>
        runs(
          100,
          times(3, (i) => `a${i}: feedback { note }`),
        ),
    ],
    [
      'notes below one list of ratings',
      () => runs(100, `feedback { ${times(3, (i) => `a${i}: note`)} }`),
    ],
    [
      'notes in a fragment',
      () =>
        `${runs(100, 'feedback { ...f ...g }')} fragment f on Feedback { a: note b: note } fragment g on Feedback { c: note }`,
    ],
    ['values of facts', () => ofBot(facts(times(9, (i) => `a${i}: memory { value }`)))],
    [
      'values below one list of facts',
      () => ofBot(facts(`memory { ${times(9, (i) => `a${i}: value`)} }`)),
    ],
    [
      'short values of facts below long names',
      () =>
        `${ofBot(`${facts('...f')} b: ${facts('...f')}`)} fragment f on Session { ${times(30, (i) => `a${i}: memory { ${'b'.repeat(250)}: updatedAt ${'c'.repeat(250)}: name }`)} }`,
    ],
    [
      'attributes of a page of traces',
      () =>
        `{ nodes(ids: ${JSON.stringify(runIds)}) { ... on Run { trace { spans { ${times(5, (i) => `a${i}: attributes`)} } } } } }`,
    ],
  ])('is refused when the operation shows more than 8 MiB of it: %s', async (_what, query) => {
    const { errors } = await tenant.graphql(query());
    expect(errors?.[0]).toMatchObject(TOO_MUCH);
  });

  test('ends a page early', async () => {
    const query = deployments(100, `diagnostics { ${times(5, (i) => `a${i}: message`)} }`);
    const { data, errors } = await tenant.graphql(query);
    expect(errors).toBeUndefined();
    const { edges, pageInfo } = data.bot.deployments;
    expect(edges.length).toBeGreaterThan(0);
    expect(JSON.stringify(edges).length).toBeLessThan(MAX_READ_BYTES);
    expect(pageInfo.hasNextPage).toBe(true);
  });

  test('ends a page early below many parents', async () => {
    const page = 'deployments(first: 60) { edges { node { diagnostics { message } } } }';
    const { data, errors } = await tenant.graphql(runs(10, `bot { ${page} }`));
    expect(errors).toBeUndefined();
    expect(JSON.stringify(data).length).toBeLessThan(MAX_READ_BYTES);
  });

  test('is complete on an ordinary page', async () => {
    const query = runs(50, 'input feedback { rating keyId } trace { spans { name durationMs } }');
    const { data, errors } = await tenant.graphql(query);
    expect(errors).toBeUndefined();
    expect(data.runs.edges).toHaveLength(50);
    expect(data.runs.edges[0].node).toMatchObject({
      feedback: list(20, () => ({ rating: 'UP' })),
      trace: { spans: list(20, () => ({ name: 'chat' })) },
    });
  });
});

describe('the bots of keys', () => {
  let owner: Tenant;
  let ids: string[];
  const keys = (below: string) => `{ viewer { account { apiKeys { ${below} } } } }`;
  beforeAll(async () => {
    owner = await app.tenant();
    ids = list(100, () => makeId('bot'));
    await app.prisma.bot.createMany({
      data: ids.map((id) => ({ id, accountId: owner.accountId, name: 'Bot' })),
    });
    await app.prisma.apiKey.createMany({
      data: list(200, (index) =>
        newApiKey(owner.accountId, makeApiKey(), { name: `${index}`, botIds: ids }),
      ),
    });
  });

  test('are refused before any is read when the keys have too many', async () => {
    const spies = [vi.spyOn(PGlite.prototype, 'query'), vi.spyOn(pg.Client.prototype, 'query')];
    onTestFinished(() => void vi.restoreAllMocks());
    const { errors } = await owner.graphql(keys('bots { id }'));
    expect(errors?.[0]).toMatchObject(TOO_MUCH);
    const statements = spies.flatMap(({ mock }) => mock.calls.map((call) => JSON.stringify(call)));
    expect(statements.filter((statement) => statement.includes(ids[0] ?? ''))).toEqual([]);
  });

  test('and their names are refused when the operation shows too many of them', async () => {
    const { errors } = await owner.graphql(keys(times(40, (i) => `a${i}: name`)));
    expect(errors?.[0]).toMatchObject(TOO_MUCH);
  });

  /** Lets each key have a tenth of the bots, until the end of the test. */
  const restrict = async () => {
    const where = { accountId: owner.accountId, restricted: true };
    await app.prisma.apiKey.updateMany({ where, data: { botIds: ids.slice(0, 20) } });
    onTestFinished(async () => {
      await app.prisma.apiKey.updateMany({ where, data: { botIds: ids } });
    });
  };

  test('are in the answer when the keys have few', async () => {
    await restrict();
    const { data, errors } = await owner.graphql(keys('id bots { id }'));
    expect(errors).toBeUndefined();
    const restricted = data.viewer.account.apiKeys.filter(({ bots }: { bots: unknown }) => bots);
    expect(restricted).toHaveLength(200);
    expect(restricted[0].bots).toEqual(ids.slice(0, 20).map((id) => ({ id })));
  });

  test('count all that is selected below them', async () => {
    await restrict();
    const { id } = await app.prisma.apiKey.findFirstOrThrow({
      where: { accountId: owner.accountId, restricted: true },
    });
    const below = (name: string) =>
      `${name}: bots { sessions(first: 100) { edges { node { id } } } }`;
    const query = (...names: string[]) =>
      `{ node(id: "${id}") { ... on ApiKey { ${names.map(below).join(' ')} } } }`;
    expect((await owner.graphql(query('a'))).errors).toBeUndefined();
    const { errors } = await owner.graphql(query('a', 'b'));
    expect(errors?.[0]).toMatchObject(TOO_MUCH);
  });
});

test('an answer takes at most the bytes that its operation weighs, even with the longest texts', async () => {
  const queries = [
    ofBot('id name webOrigins webUrl createdAt visitorSessionsPerHour'),
    runs(
      100,
      'id cursor status kind channel environment sessionId user model toolsCalled createdAt startedAt finishedAt latencyMs tokensUsed tokensEstimated error { code message } inputExcerpt responseExcerpt',
    ),
    deployments(
      60,
      'id environment status message envNames sentEnvNames channels active keyId createdAt deployedAt version',
    ),
    ofBot(facts('id sessionId turns lastSeenAt')),
    runs(
      10,
      'feedback { rating note keyId createdAt updatedAt } trace { traceId spans { spanId parentId name startedAt durationMs status attributes } }',
    ),
  ];
  for (const query of queries) {
    const { data, errors } = await tenant.graphql(query);
    expect(errors, query).toBeUndefined();
    const { bytes } = weigh(schema, parse(query), undefined, {});
    expect(Buffer.byteLength(JSON.stringify(data)), query).toBeLessThanOrEqual(bytes);
  }
});

test('a read over the budget answers one error for all rows of its batch', async () => {
  const ids = JSON.stringify(runIds);
  const notes = times(50, (index) => `n${index}: note`);
  const { errors } = await tenant.graphql(
    `{ nodes(ids: ${ids}) { ... on Run { feedback { ${notes} } } } }`,
  );
  expect(errors).toEqual([expect.objectContaining(TOO_MUCH)]);
});

test('the origins of bots are read only by documents that select them', async () => {
  const statements = recordStatements();
  const reads = async (query: string) => {
    statements.clear();
    expect((await tenant.graphql(query)).errors).toBeUndefined();
    return statements.texts().filter((text) => text.includes('web_origins')).length;
  };
  const LISTS = ['bots { edges { node { id name } } }', 'bots { pageInfo { hasNextPage } }'];
  for (const list of LISTS) {
    expect(await reads(`{ viewer { account { ${list} } } }`)).toBe(0);
    expect(await reads(`{ ${list} }`)).toBe(0);
  }
  expect(await reads('{ bots { edges { node { webOrigins } } } }')).toBe(1);
});
