import { expect, test } from 'vitest';
import { createOfflineModel } from '../../src/model/offline.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { startUpstream } from '../helpers/upstream.ts';

// Each test has an app with a model of its own, and no other app runs: any app on the database may execute an evaluation.

const JUDGED = 'test "t" { user "Hi"  expect reply judged "It greets." }';
const VERDICT = '{"reason": "It does.", "holds": true}';

const sourceWith = (members: string, tests: string) =>
  `agentlang 5\nagent "Desk" {\n  description "d"\n  prompt "p"\n  ${members}\n  ${tests}\n}\n`;

/** Scripts a model that replies, and a model that judges. */
const judge = ({ upstream }: TestApp) =>
  upstream.script(({ request, say, end }) => {
    say(request.body.messages[0]?.content.startsWith('You check') ? VERDICT : 'Hello.');
    end();
  });
const modelsOf = ({ upstream }: TestApp) => upstream.requests.map(({ body }) => body.model);

const verdictIn = async (judging: TestApp) => {
  const asking = await judging.tenant();
  const { data } = await asking.graphql(
    `mutation ($bot: ID!, $source: String!) {
      startEvaluation(botId: $bot, input: { source: $source }) { id } }`,
    { bot: await asking.bot(''), source: sourceWith('', JUDGED) },
  );
  const { id } = data.startEvaluation;
  const find = async () =>
    (await asking.graphql(`{ evaluation(id: "${id}") { verdict } }`)).data.evaluation.verdict;
  await expect.poll(find, { timeout: 60_000 }).not.toBeNull();
  return find();
};

test('a judged expectation is decided by the model in PARLEY_JUDGE_MODEL', async () => {
  const judging = await startApp({ judgeModel: 'judge-1' });
  judging.upstream.script(({ request, say, end }) => {
    say(request.body.model === 'judge-1' ? '{"reason": "So.", "holds": true}' : 'Hi.');
    end();
  });
  expect(await verdictIn(judging)).toBe('PASSED');
});

test('a judged expectation is skipped, never passed, by the offline model', async () => {
  const model = createOfflineModel({ pace: 0 });
  expect(await verdictIn(await startApp({ model }))).toBe('SKIPPED');
});

test('the judge model of a REST request judges in place of PARLEY_JUDGE_MODEL, and the reply shows it', async () => {
  const server = await startApp({ judgeModel: 'of-the-operator' });
  judge(server);
  const owner = await server.tenant();
  const desk = await owner.bot('');
  const post = (body: object) =>
    fetch(`${server.url}/v1/bots/${desk}/evaluations`, {
      method: 'POST',
      headers: { ...owner.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ agentlang: sourceWith('model "own-model"', JUDGED), ...body }),
    });
  const refused = await post({ judge_model: 'm'.repeat(129) });
  expect([refused.status, (await refused.json()).error.details]).toEqual([
    400,
    [{ path: 'judge_model', message: 'must not be longer than 128 characters' }],
  ]);
  const started = await (await post({ judge_model: 'strict' })).json();
  expect(started.judge_model).toBe('strict');
  const where = { id: started.evaluation_id };
  const find = () => server.prisma.evaluation.findUniqueOrThrow({ where });
  await expect.poll(async () => (await find()).finishedAt, { timeout: 60_000 }).not.toBeNull();
  expect(await find()).toMatchObject({ status: 'COMPLETED', passed: 1 });
  expect(modelsOf(server)).toEqual(['own-model', 'strict']);
});

test('the judge model of the input is asked at the own server of the definition, not at the server of the operator', async () => {
  const own = await startUpstream();
  own.script(({ request, say, end }) => {
    say(request.body.model === 'strict' ? VERDICT : 'Hello.');
    end();
  });
  const server = await startApp({ allowedHosts: [new URL(own.baseUrl).host] });
  const owner = await server.tenant();
  const source = sourceWith(`model "own" { base_url "${own.baseUrl}"  api_key env.KEY }`, JUDGED);
  const envVars = [{ name: 'KEY', value: 'sk-own' }];
  const { data, errors } = await owner.graphql(
    'mutation ($bot: ID!, $input: EvaluationInput!) { startEvaluation(botId: $bot, input: $input) { id } }',
    { bot: await owner.bot(''), input: { source, envVars, judgeModel: 'strict' } },
  );
  expect(errors).toBeUndefined();
  const where = { id: data.startEvaluation.id };
  const find = () => server.prisma.evaluation.findUniqueOrThrow({ where });
  await expect.poll(async () => (await find()).finishedAt, { timeout: 60_000 }).not.toBeNull();
  expect(await find()).toMatchObject({ status: 'COMPLETED', passed: 1 });
  expect(own.requests.map(({ body }) => body.model)).toEqual(['own', 'strict']);
  expect(server.upstream.requests).toEqual([]);
  await own.close();
});

test('with the offline model, a judged expectation stays skipped with a judge model', async () => {
  const server = await startApp({ model: createOfflineModel({ pace: 0 }) });
  const owner = await server.tenant();
  const { data } = await owner.graphql(
    'mutation ($bot: ID!, $input: EvaluationInput!) { startEvaluation(botId: $bot, input: $input) { id } }',
    { bot: await owner.bot(''), input: { source: sourceWith('', JUDGED), judgeModel: 'strict' } },
  );
  const where = { id: data.startEvaluation.id };
  const find = () => server.prisma.evaluation.findUniqueOrThrow({ where });
  await expect.poll(async () => (await find()).finishedAt, { timeout: 60_000 }).not.toBeNull();
  expect(await find()).toMatchObject({ status: 'COMPLETED', passed: 0, skipped: 1 });
});

test('the variables of the input are used for the model, and no other server gets the request', async () => {
  const own = await startUpstream();
  const source = sourceWith(
    'model "own" { base_url env.MODEL_URL  api_key env.MODEL_KEY }',
    'test "t" { user "Hi"  expect reply contains "Hello" }',
  );
  const server = await startApp({ allowedHosts: [new URL(own.baseUrl).host] });
  const owner = await server.tenant();
  const desk = await owner.bot('');
  const { data, errors } = await owner.graphql(
    'mutation ($bot: ID!, $input: EvaluationInput!) { startEvaluation(botId: $bot, input: $input) { id } }',
    {
      bot: desk,
      input: {
        source,
        envVars: [
          { name: 'MODEL_URL', value: own.baseUrl },
          { name: 'MODEL_KEY', value: 'sk-of-the-input' },
        ],
      },
    },
  );
  expect(errors).toBeUndefined();
  const where = { id: data.startEvaluation.id };
  const find = () => server.prisma.evaluation.findUniqueOrThrow({ where });
  await expect.poll(async () => (await find()).finishedAt, { timeout: 60_000 }).not.toBeNull();
  expect(await find()).toMatchObject({ status: 'COMPLETED', passed: 1, envVars: null });
  expect(own.requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer sk-of-the-input',
  ]);
  expect(server.upstream.requests).toEqual([]);
  await own.close();
});

test('a gate fails if a test cannot be judged', async () => {
  const offline = await startApp({ model: createOfflineModel({ pace: 0 }) });
  const own = await offline.tenant();
  const desk = await own.bot('');
  await own.graphql(
    `mutation { updateBot(id: "${desk}", input: { gate: { tests: true } }) { id } }`,
  );
  const { data } = await own.graphql(
    'mutation ($bot: ID!, $source: String!) { deploy(botId: $bot, input: { source: $source }) { id } }',
    { bot: desk, source: sourceWith('', JUDGED) },
  );
  const where = { id: data.deploy.id };
  const find = () => offline.prisma.deployment.findUniqueOrThrow({ where });
  await expect.poll(async () => (await find()).status, { timeout: 30_000 }).toBe('FAILED');
  expect(JSON.stringify((await find()).diagnostics)).toContain('could not check reply judged');
});

test('a replay is skipped, never passed, by the offline model, unless the replies are equal', async () => {
  const offline = await startApp({ model: createOfflineModel({ pace: 0 }) });
  const own = await offline.tenant();
  const desk = await own.bot('prompt "Old."');
  await own.chat(desk, { message: 'Hi' });
  const verdictOf = async (change: object) => {
    await offline.prisma.run.updateMany({ where: { botId: desk }, data: change });
    const { data, errors } = await own.graphql(
      `mutation ($bot: ID!, $source: String!) {
        startEvaluation(botId: $bot, input: { source: $source, tests: false, replay: {} }) { id } }`,
      { bot: desk, source: 'agentlang 5 agent "A" { prompt "Old." }' },
    );
    expect(errors).toBeUndefined();
    const find = async () =>
      (await own.graphql(`{ evaluation(id: "${data.startEvaluation.id}") { verdict } }`)).data
        .evaluation.verdict;
    await expect.poll(find, { timeout: 60_000 }).not.toBeNull();
    return find();
  };
  expect(await verdictOf({})).toBe('PASSED');
  expect(await verdictOf({ response: 'Another reply.' })).toBe('SKIPPED');
});
