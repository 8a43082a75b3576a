import { beforeAll, beforeEach, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;

beforeAll(async () => {
  app = await startApp();
});
beforeEach(async () => {
  tenant = await app.tenant();
  bot = await tenant.bot('');
  app.upstream.requests.length = 0;
  app.upstream.script(({ say, end }) => {
    say('Hello.');
    end();
  });
});

const MARK = 'A sentence of the test alone';
const TEST = `test "${MARK} name" {
    memory { name "Ada" }
    user "Hi"
    expect reply contains "Hello"
    expect reply omits "${MARK} expectation"
  }`;

const sourceWith = (members = '', tests = TEST) =>
  `agentlang 5\nagent "Desk" {\n  description "d"\n  prompt "p"\n  memory { name }\n  ${members}\n  ${tests}\n}\n`;

const start = (input: object) =>
  tenant.graphql(
    'mutation ($bot: ID!, $input: EvaluationInput!) { startEvaluation(botId: $bot, input: $input) { id } }',
    { bot, input },
  );

/** Evaluates, and waits for the end. */
const ended = async (input: object) => {
  const { data, errors } = await start(input);
  expect(errors).toBeUndefined();
  const where = { id: data.startEvaluation.id };
  const find = () => app.prisma.evaluation.findUniqueOrThrow({ where });
  await expect.poll(async () => (await find()).finishedAt, { timeout: 60_000 }).not.toBeNull();
  return find();
};

test('the model of the input is asked in place of the model of the definition', async () => {
  const source = sourceWith('model "own-model"');
  expect(await ended({ source })).toMatchObject({ status: 'COMPLETED', passed: 1 });
  expect(await ended({ source, model: 'other-model' })).toMatchObject({ passed: 1 });
  expect(app.upstream.requests.map(({ body }) => body.model)).toEqual(['own-model', 'other-model']);
});

const JUDGED = 'test "t" { user "Hi"  expect reply judged "It greets." }';
const VERDICT = '{"reason": "It does.", "holds": true}';

/** Scripts a model that replies, and a model that judges. */
const judge = ({ upstream }: TestApp) =>
  upstream.script(({ request, say, end }) => {
    say(request.body.messages[0]?.content.startsWith('You check') ? VERDICT : 'Hello.');
    end();
  });
const modelsOf = ({ upstream }: TestApp) => upstream.requests.map(({ body }) => body.model);

test('the judge model of the input judges in place of the model of the definition, which still replies', async () => {
  judge(app);
  const source = sourceWith('model "own-model"', JUDGED);
  expect(await ended({ source })).toMatchObject({ passed: 1, judgeModel: null });
  expect(await ended({ source, judgeModel: 'strict' })).toMatchObject({ passed: 1 });
  expect(modelsOf(app)).toEqual(['own-model', 'own-model', 'own-model', 'strict']);
});

test('a model name of more than 128 characters is refused, over GraphQL and REST', async () => {
  const model = 'm'.repeat(129);
  const { errors } = await start({ source: sourceWith(), model });
  expect(errors?.[0]?.extensions).toMatchObject({
    code: 'INVALID_REQUEST',
    details: [{ path: 'input.model', message: 'must not be longer than 128 characters' }],
  });
  const post = (body: object) =>
    fetch(`${app.url}/v1/bots/${bot}/evaluations`, {
      method: 'POST',
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ agentlang: sourceWith(), ...body }),
    });
  const refused = await post({ model });
  expect([refused.status, (await refused.json()).error.details]).toEqual([
    400,
    [{ path: 'model', message: 'must not be longer than 128 characters' }],
  ]);
  expect((await post({ model: 'm'.repeat(128) })).status).toBe(202);
  // These exist in GraphQL only.
  for (const unknown of [{ test_names: ['a'] }, { testNames: ['a'] }])
    expect((await post(unknown)).status).toBe(400);
});

test('no text of a test is in a request to the model, except what its user says and remembers', async () => {
  const source = sourceWith();
  expect(await ended({ source })).toMatchObject({ passed: 1 });
  const { data } = await tenant.graphql(
    'mutation ($bot: ID!, $source: String!) { deploy(botId: $bot, input: { source: $source }) { status } }',
    { bot, source },
  );
  expect(data.deploy.status).toBe('DEPLOYED');
  expect((await tenant.chat(bot, { message: 'Hi' })).status).toBe(200);
  expect(app.upstream.requests).toHaveLength(2);
  const [evaluated, deployed] = app.upstream.requests.map(({ body }) => JSON.stringify(body));
  for (const body of [evaluated, deployed]) {
    expect(body).not.toContain(MARK);
    expect(body).not.toContain('expect');
  }
  expect(evaluated).toContain('Ada');
  expect(deployed).not.toContain('Ada');
});
