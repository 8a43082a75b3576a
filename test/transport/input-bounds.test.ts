import { beforeAll, describe, expect, test } from 'vitest';
import { MAX_FACTS } from '../../src/text/input.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

const ofSize = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
const many = Array.from({ length: 50_000 }, () => '!');

const CREATE_KEY =
  'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }';
const DEPLOY =
  'mutation ($input: DeployInput!, $bot: ID!) { deploy(botId: $bot, input: $input) { id } }';
const RUNS =
  'query ($filter: RunFilter, $bot: ID!) { runs(botId: $bot, filter: $filter) { edges { cursor } } }';

describe('a list that is too long', () => {
  test.each<[string, string, object, string]>([
    [
      'bots to list',
      'query ($ids: [ID!]) { bots(botIds: $ids) { edges { cursor } } }',
      { ids: many },
      'ids',
    ],
    ['bots of a key', CREATE_KEY, { input: { name: 'K', botIds: many } }, 'input.botIds'],
    [
      'scopes of a key',
      CREATE_KEY,
      { input: { name: 'K', scopes: Array(21).fill('CHAT') } },
      'input.scopes',
    ],
    [
      'variables to take out',
      DEPLOY,
      { input: { source: '', unsetEnvVars: many } },
      'input.unsetEnvVars',
    ],
    [
      'names of variables',
      'query ($names: [String!]) { checkDefinition(source: "", envNames: $names) { valid } }',
      { names: many },
      'names',
    ],
    ['statuses', RUNS, { filter: { status: Array(21).fill('FAILED') } }, 'filter.status'],
    ['channels', RUNS, { filter: { channel: Array(21).fill('API') } }, 'filter.channel'],
    ['entrances', RUNS, { filter: { entrance: Array(21).fill('MCP') } }, 'filter.entrance'],
    [
      'error codes',
      RUNS,
      { filter: { errorCode: Array(21).fill('MODEL_ERROR') } },
      'filter.errorCode',
    ],
  ])(
    'is reported as one problem, regardless of its items: %s',
    async (_what, query, variables, path) => {
      const { errors } = await tenant.graphql(query, { bot, ...variables });
      expect(errors?.[0]?.extensions).toMatchObject({
        code: 'INVALID_REQUEST',
        details: [
          {
            path,
            message: expect.stringMatching(/(at most|more than) \d+( items| are allowed)?$/),
          },
        ],
      });
    },
  );
});

describe('a request with many problems', () => {
  test('reports at most 100 of them', async () => {
    const envVars = Array.from({ length: 150 }, () => ({ name: '!', value: '' }));
    const { errors } = await tenant.graphql(DEPLOY, { bot, input: { source: '', envVars } });
    expect(errors?.[0]?.extensions.details).toHaveLength(100);
  });
});

describe('the metadata of a run', () => {
  const execute = (metadata: object) =>
    fetch(`${app.url}/v1/bots/${bot}/execute`, {
      method: 'POST',
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'Hi', metadata }),
    });

  test('is at most 64 KiB over REST and GraphQL', async () => {
    expect((await execute(ofSize(65_536))).status).toBe(200);
    const refused = await execute(ofSize(65_537));
    expect(await refused.json()).toMatchObject({
      error: {
        code: 'invalid_request',
        details: [{ path: 'metadata', message: 'must not be larger than 64 KiB' }],
      },
    });
    const { errors } = await tenant.graphql(
      'mutation ($bot: ID!, $input: ExecuteInput!) { execute(botId: $bot, input: $input) { id } }',
      { bot, input: { prompt: 'Hi', metadata: ofSize(65_537) } },
    );
    expect(errors?.[0]?.extensions.details).toEqual([
      { path: 'input.metadata', message: 'must not be larger than 64 KiB' },
    ]);
  });
});

describe('the memory of a session', () => {
  const keep = (name: string, value: string | null, sessionId = 'user-1') =>
    tenant.graphql(
      `mutation ($bot: ID!, $sessionId: String!, $name: String!, $value: String) {
        setMemory(botId: $bot, sessionId: $sessionId, name: $name, value: $value) { memory { name } }
      }`,
      { bot, sessionId, name, value },
    );

  test(`has at most ${MAX_FACTS} facts, even if several are added at the same time`, async () => {
    await keep('fact_0', 'x');
    const session = await app.prisma.session.findFirstOrThrow({ where: { botId: bot } });
    const data = Array.from({ length: MAX_FACTS - 2 }, (_, index) => ({
      sessionKey: session.id,
      name: `fact_${index + 1}`,
      value: 'x',
    }));
    await app.prisma.memoryEntry.createMany({ data });
    const answers = await Promise.all([keep('a', 'x'), keep('b', 'x'), keep('c', 'x')]);
    const refusals = answers.flatMap(({ errors }) => errors ?? []);
    expect(refusals.map(({ extensions, message }) => [extensions.code, message])).toEqual(
      Array(2).fill([
        'INVALID_REQUEST',
        'A bot keeps at most 256 facts of a user. Forget one first.',
      ]),
    );
    expect((await keep('fact_0', 'new')).errors).toBeUndefined();
    expect((await keep('fact_1', null)).errors).toBeUndefined();
    expect((await keep('d', 'x')).errors).toBeUndefined();
    expect((await keep('e', 'x', 'user-2')).errors).toBeUndefined();
  });
});

describe.each(['model', 'judgeModel'])('the %s of an evaluation', (member) => {
  const start = (model: string) =>
    tenant.graphql(
      `mutation ($bot: ID!, $input: EvaluationInput!) { startEvaluation(botId: $bot, input: $input) { ${member} } }`,
      { bot, input: { source: TESTED, [member]: model } },
    );
  const TESTED = `agentlang 5
agent "A" {
  description "d"
  prompt "p"
  test "greets" { user "Hi"  expect reply contains "Hi" }
}
`;

  test('has at most 128 characters', async () => {
    const { data } = await start('m'.repeat(128));
    expect(data.startEvaluation[member]).toBe('m'.repeat(128));
    const { errors } = await start('m'.repeat(129));
    expect(errors?.[0]?.extensions.details).toEqual([
      { path: `input.${member}`, message: 'must not be longer than 128 characters' },
    ]);
  });
});

describe('a name', () => {
  test('has at most 200 characters', async () => {
    const create = 'mutation ($name: String!) { createBot(input: { name: $name }) { name } }';
    const longest = 'n'.repeat(200);
    expect((await tenant.graphql(create, { name: longest })).data).toEqual({
      createBot: { name: longest },
    });
    const { errors } = await tenant.graphql(create, { name: `${longest}n` });
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'INVALID_REQUEST',
      details: [{ path: 'input.name', message: 'must not be longer than 200 characters' }],
    });
  });

  test('of an operation has at most 256 characters', async () => {
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ __typename }', operationName: 'n'.repeat(257) }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      errors: [
        {
          extensions: {
            details: [{ path: 'operationName', message: 'must not be longer than 256 characters' }],
          },
        },
      ],
    });
  });
});
