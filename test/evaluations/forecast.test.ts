import { beforeAll, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { hello } from '../helpers/upstream.ts';

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  app.upstream.script(hello);
});

const forecast = async (bot: string, input: object, key = tenant.apiKey) =>
  app.graphql(
    key,
    `query ($bot: ID!, $input: EvaluationInput!) {
      evaluationForecast(botId: $bot, input: $input) { tests runs requests modelCalls tokens } }`,
    { bot, input },
  );

const SOURCE = `agentlang 5 agent "A" { prompt "Be brief."
  test "a" { user "Hi" expect reply judged "Polite." user "And?" expect no call }
  test "b" { user "Hi" } }`;

test('a forecast counts tests, turns, sentences to judge and recorded runs, and starts nothing', async () => {
  const bot = await tenant.bot('');
  for (const message of ['one', 'two'])
    expect((await tenant.chat(bot, { message })).status).toBe(200);
  await app.prisma.run.updateMany({
    where: { botId: bot },
    data: { promptTokens: 1_000, completionTokens: 100 },
  });
  const asked = app.upstream.requests.length;
  const tests = (await forecast(bot, { source: SOURCE })).data.evaluationForecast;
  expect(tests).toMatchObject({ tests: 2, runs: 0, requests: 2, modelCalls: 4 });
  expect(tests.tokens).toBeGreaterThan(450);
  const both = (await forecast(bot, { source: SOURCE, replay: {}, repeat: 3 })).data
    .evaluationForecast;
  expect(both).toMatchObject({ tests: 2, runs: 2, requests: 12, modelCalls: 24 });
  expect(both.tokens).toBeGreaterThan(3 * (tests.tokens + 2_200));
  const runs = (await forecast(bot, { source: SOURCE, tests: false, replay: { last: 1 } })).data;
  expect(runs.evaluationForecast).toMatchObject({ tests: 0, runs: 1, requests: 1, modelCalls: 2 });
  expect(app.upstream.requests.length).toBe(asked);
  expect(await app.prisma.evaluation.count({ where: { botId: bot } })).toBe(0);
});

test('a forecast is refused as its evaluation would be', async () => {
  const bot = await tenant.bot('');
  const codeOf = async (input: object, key?: string) =>
    (await forecast(bot, input, key)).errors?.[0]?.extensions.code;
  expect(await codeOf({ source: 'agentlang 5' })).toBe('DEFINITION_INVALID');
  expect(await codeOf({ source: SOURCE, repeat: 11 })).toBe('INVALID_REQUEST');
  expect(await codeOf({ source: SOURCE, replay: { runIds: ['run_none'] } })).toBe('RUN_NOT_FOUND');
  const deployer = await tenant.key({ scopes: ['DEPLOY'] });
  expect(await codeOf({ source: SOURCE, replay: {} }, deployer)).toBe('INSUFFICIENT_SCOPE');
});
