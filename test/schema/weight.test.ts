import { getIntrospectionQuery, isInterfaceType, isObjectType, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { POINTS } from '../../src/schema/admission/points.ts';
import { MAX_READ_BYTES } from '../../src/schema/admission/sizes.ts';
import { assertReadable, weigh, weighEvent } from '../../src/schema/admission/weight.ts';
import { schema } from '../../src/schema/index.ts';
import { STORED_DOCUMENTS } from '../helpers/stored-documents.ts';

const times = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => make(index)).join(' ');
const bot = (below: string) => `{ bot(id: "x") { ${below} } }`;
const bots = (first: number, below: string) =>
  `{ bots(first: ${first}) { edges { node { id name ${below} } } } }`;
const stats = (days: number) =>
  `stats(from: "2026-01-01T00:00:00Z", to: "${new Date(Date.UTC(2026, 0, 1 + days)).toISOString()}") { runs failed tokens latencyP50 perDay { date runs } }`;

const assert = (query: string, variables = {}) => {
  const document = parse(query);
  expect(validate(schema, document)).toEqual([]);
  assertReadable(schema, document, undefined, variables);
};

const ACTIVE =
  'production: activeDeployment { id status } staging: activeDeployment(environment: STAGING) { id status }';
const LAST = 'last: runs(first: 1) { edges { node { id status latencyMs input response } } }';

describe('an ordinary operation', () => {
  test.each([
    ['a dashboard of 20 bots', bots(20, `${stats(7)} ${LAST} ${ACTIVE}`)],
    ['a dashboard of 100 bots for a month', bots(100, stats(31))],
    [
      'the last day of 100 bots by hour',
      bots(
        100,
        'stats(from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z") { runs perHour { runs } }',
      ),
    ],
    ['20 bots for a year', bots(20, stats(365))],
    [
      'a bot by day, week, month and year',
      bot([1, 7, 30, 365].map((days) => `a${days}: ${stats(days)}`).join(' ')),
    ],
    [
      'a page of runs with all fields',
      `{ runs(botId: "x", first: 100) { edges { node { id input response metadata trace { spans { name attributes } } deployment { id } } } } }`,
    ],
    [
      'a session',
      bot(
        'session(id: "x") { memory { name value } messages(first: 100) { edges { node { role text run { id status } } } } }',
      ),
    ],
    [
      'a check of a definition',
      '{ checkDefinition(source: "") { valid diagnostics { code } formatted } }',
    ],
    [
      'the whole schema',
      getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true, oneOf: true }),
    ],
  ])('is not too expensive: %s', (_what, query) => {
    expect(() => assert(query)).not.toThrow();
  });
});

describe('an operation that repeats an expensive field', () => {
  test.each([
    ['statistics', bot(times(100, (i) => `a${i}: ${stats(1)}`))],
    ['statistics six times', bot(times(6, (i) => `a${i}: ${stats(1)}`))],
    [
      'statistics in a fragment',
      `{ ${times(6, (i) => `a${i}: bot(id: "x") { ...f }`)} } fragment f on Bot { ${stats(1)} }`,
    ],
    [
      'runs',
      bot(
        times(
          34,
          (i) => `a${i}: runs(first: 1, filter: { status: [FAILED] }) { edges { cursor } }`,
        ),
      ),
    ],
    [
      'runs at the root',
      `{ ${times(34, (i) => `a${i}: runs(botId: "x", first: 1) { edges { cursor } }`)} }`,
    ],
    [
      'messages',
      bot(
        times(
          34,
          (i) => `a${i}: session(id: "${i}") { messages(first: 1) { edges { node { text } } } }`,
        ),
      ),
    ],
    ['active deployments', bot(times(51, (i) => `a${i}: activeDeployment { id }`))],
    [
      'checks of a definition',
      `query ($s: String!) { ${times(6, (i) => `a${i}: checkDefinition(source: $s) { valid }`)} }`,
    ],
    [
      'a formatted definition',
      `{ checkDefinition(source: "") { ${times(9, (i) => `a${i}: formatted`)} } }`,
    ],
    [
      'deployments',
      `mutation ($i: DeployInput!) { ${times(21, (i) => `a${i}: deploy(botId: "x", input: $i) { id }`)} }`,
    ],
  ])('is refused with its points and the limit: %s', (_what, query) => {
    expect(() => assert(query)).toThrow(
      /^The operation takes \d+ points of work; at most 100 are allowed\./,
    );
  });

  test.each([
    ['given by variables', { from: '2026-01-01T00:00:00Z', to: '2026-12-31T00:00:00Z' }, true],
    ['given by invalid variables', { from: 'x', to: 'y' }, true],
    ['for few days', { from: '2026-01-01T00:00:00Z', to: '2026-01-08T00:00:00Z' }, false],
  ])('is weighed by its number of days: %s', (_what, variables, isRefused) => {
    const query = `query ($from: DateTime!, $to: DateTime!) { bots(first: 50) { edges { node { stats(from: $from, to: $to) { perDay { runs } } } } } }`;
    const expectation = expect(() => assert(query, variables));
    if (isRefused) expectation.toThrow(/up to \d+ objects; at most 10000/);
    else expectation.not.toThrow();
  });

  test.each([
    [
      'with many aliases',
      `{ ${times(90, (i) => `a${i}: __schema { types { name fields { name } } }`)} }`,
    ],
    [
      'nested',
      `{ __schema { types { ${times(20, (i) => `a${i}: fields { name type { fields { name } } }`)} } } }`,
    ],
    [
      'in fragments',
      `{ ${times(90, (i) => `a${i}: __schema { ...f }`)} } fragment f on __Schema { types { name fields { name } } }`,
    ],
  ])('with much introspection is refused: %s', (_what, query) => {
    expect(() => assert(query)).toThrow(/fields of the schema; at most 100000/);
  });

  test('is weighed without expanding all of its fragments', () => {
    const chain = times(40, (i) => `fragment f${i} on Bot { ...f${i + 1} ...f${i + 1} }`);
    const document = parse(`${bot('...f0')} ${chain} fragment f40 on Bot { ${stats(1)} }`);
    expect(weigh(schema, document, undefined, {}).points).toBeGreaterThan(2 ** 40);
  });
});

/** The largest pages, and a day of statistics. */
const LARGEST = {
  first: 100,
  last: 100,
  ids: Array.from({ length: 100 }, (_, index) => `run_${index}`),
  from: '2026-01-01T00:00:00Z',
  to: '2026-01-02T00:00:00Z',
};

describe('a document of REST, the console and the command', () => {
  test.each(STORED_DOCUMENTS)('is admitted with its largest page: $name', ({ name, text }) => {
    // The console asks for the statistics of a page of 50 bots.
    const variables = name === 'BotStats' ? { ...LARGEST, first: 50 } : LARGEST;
    expect(() => assertReadable(schema, parse(text), undefined, variables)).not.toThrow();
  });

  test.each(STORED_DOCUMENTS.filter(({ text }) => text.includes('$byHour')))(
    'is admitted with the statistics of a year: $name',
    ({ text }) => {
      const variables = { ...LARGEST, to: '2027-01-01T00:00:00Z', byHour: false };
      expect(() => assertReadable(schema, parse(text), undefined, variables)).not.toThrow();
    },
  );
});

describe('an operation that repeats a text', () => {
  const runs = (below: string) =>
    `{ runs(botId: "x", first: 100) { edges { node { ${below} } } } }`;
  const ofAllBots = (below: string) =>
    `{ accounts(first: 30) { edges { node { bots(first: 100) { edges { node { ${below} } } } } } } }`;
  const deployments = (below: string) =>
    bot(`deployments(first: 100) { edges { node { ${below} } } }`);
  test.each([
    ['names of bots', ofAllBots(times(5, (i) => `a${i}: name`))],
    [
      'texts of chat pages',
      bots(
        100,
        times(8, (i) => `a${i}: chatPage { welcome suggestions }`),
      ),
    ],
    ['origins', runs(times(14, (i) => `a${i}: bot { webOrigins }`))],
    ['names of variables', deployments(times(7, (i) => `a${i}: envNames`))],
    ['sent names of variables', deployments(times(7, (i) => `a${i}: sentEnvNames`))],
    ['notes of deployments', deployments(times(28, (i) => `a${i}: message`))],
    ['sessions of runs', runs(`${times(80, (i) => `a${i}: sessionId b${i}: user`)}`)],
    ['tools', runs(times(4, (i) => `a${i}: toolsCalled`))],
    ['models', runs(`toolsCalled ${times(90, (i) => `a${i}: model`)}`)],
    [
      'messages of diagnostics',
      `query ($s: String!) { checkDefinition(source: $s) { ${times(30, (i) => `a${i}: diagnostics { message }`)} } }`,
    ],
    ['short values below long names', ofAllBots(times(25, (i) => `${'a'.repeat(200)}${i}: id`))],
    ['short values', ofAllBots(times(60, (i) => `a${i}: __typename`))],
    [
      'names in a fragment',
      `${ofAllBots('...f')} fragment f on Bot { ${times(5, (i) => `a${i}: name`)} }`,
    ],
  ])('is refused with its bytes and the limit: %s', (_what, query) => {
    const document = parse(query);
    expect(() => assertReadable(schema, document, undefined, {})).toThrow(
      expect.objectContaining({
        code: 'request_too_large',
        message: expect.stringMatching(
          /^The operation asks for up to \d+ bytes; at most 16777216 \(16 MiB\) are allowed.*Request smaller pages or fewer fields\.$/,
        ),
      }),
    );
  });

  test('counts long texts once, as the most that all of them may have', () => {
    const weightOf = (query: string) => weigh(schema, parse(query), undefined, {}).bytes;
    const short = weightOf(runs('id'));
    expect(weightOf(runs('id input'))).toBeGreaterThan(short + MAX_READ_BYTES);
    expect(weightOf(runs('id input response metadata trace { spans { name } }'))).toBeLessThan(
      short + 1.01 * MAX_READ_BYTES,
    );
  });
});

test('an event costs its points, and a part of a point for many values', () => {
  const costOf = (query: string) => weighEvent(schema, parse(query), undefined, {}).cost;
  const events = (below: string) =>
    `subscription { runEvents(runId: "x") { ... on TextDelta { ${below} } } }`;
  expect(costOf(events('seq at delta'))).toBe(0);
  expect(costOf(events(times(400, (i) => `a${i}: delta`)))).toBeGreaterThan(0.5);
  expect(costOf('subscription { runChanged(botId: "x") { id status } }')).toBe(1);
  expect(costOf('subscription { runChanged(botId: "x") { id bot { name } } }')).toBe(2);
  expect(costOf('{ viewer { account { id } } }')).toBe(0);
});

test.each(STORED_DOCUMENTS.filter(({ name }) => /^(Chat|Execute)Stream$|^(Follow|Run)/.test(name)))(
  'an event of the stored document $name costs at most a few points',
  ({ text }) => {
    expect(weighEvent(schema, parse(text), undefined, {}).cost).toBeLessThanOrEqual(6);
  },
);

describe('a subscription', () => {
  const changes = (below: string) => `subscription { runChanged(botId: "x") { ${below} } }`;
  test.each([
    ['statistics', changes(`bot { ${stats(7)} }`), /Each event takes \d+ points.*at most 20/],
    ['prompts', changes('prompt { parts { text } }'), /Each event takes 21 points/],
    [
      'many lists',
      changes(times(10, (i) => `a${i}: bot { sessions(first: 1) { edges { cursor } } }`)),
      /Each event takes \d+ points/,
    ],
    [
      'large pages',
      changes(
        'bot { runs(first: 100) { edges { node { bot { deployments(first: 20) { edges { node { id } } } } } } } }',
      ),
      /Each event asks for up to \d+ objects; at most 1000/,
    ],
    [
      'large pages of changed deployments, in fragments',
      'subscription { ...s } fragment s on Subscription { deploymentChanged(botId: "x") { ...f } } fragment f on Deployment { bot { sessions(first: 100) { edges { node { messages(first: 20) { edges { node { id } } } } } } } }',
      /Each event asks for up to \d+ objects/,
    ],
  ])('whose events are too heavy is refused at its start: %s', (_what, query, message) => {
    const document = parse(query);
    expect(validate(schema, document)).toEqual([]);
    expect(() => assertReadable(schema, document, undefined, {})).toThrow(message);
    expect(() => assertReadable(schema, document, undefined, {})).toThrow(
      /read the rest by a query\.$/,
    );
  });
});

test('points are defined only for existing fields', () => {
  for (const name of Object.keys(POINTS)) {
    const [typeName = '', fieldName = ''] = name.split('.');
    const type = schema.getType(typeName);
    expect(isObjectType(type) || isInterfaceType(type), name).toBe(true);
    expect(isObjectType(type) && type.getFields()[fieldName], name).toBeDefined();
  }
});

describe('a text that is measured when it is read', () => {
  const ids = Array.from({ length: 100 }, (_, index) => `run_${index}`);
  const responses = (count: number, of = (fields: string) => fields) =>
    `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Run { ${times(count, (i) => of(`a${i}: response`))} } } }`;

  test('counts as an object for each further time that an entry has it', () => {
    expect(() => assert(responses(100), { ids })).not.toThrow();
    expect(() => assert(responses(101), { ids })).toThrow(/up to 10100 objects; at most 10000/);
    const spread = (field: string) => `... on Run { ${field} }`;
    expect(() => assert(responses(101, spread), { ids })).toThrow(/up to 10100 objects/);
  });

  test('does not count once an entry', () => {
    const page = (field: string) =>
      `{ viewer { account { bots(first: 100) { edges { node { runs(first: 32) { edges { node { ${field} } } } } } } } } }`;
    expect(() => assert(page('input'))).not.toThrow();
    expect(() => assert(page('input response'))).toThrow(/objects; at most 10000/);
  });

  test('counts as an object for each further time that an event has it', () => {
    const subscription = (count: number) =>
      `subscription { runChanged(botId: "x") { ...texts } } fragment texts on Run { ${times(count, (i) => `a${i}: input`)} }`;
    const objects = (count: number) =>
      weighEvent(schema, parse(subscription(count)), undefined, {}).objects;
    expect([1, 2, 7].map((count) => objects(count))).toEqual([0, 1, 6]);
  });
});
