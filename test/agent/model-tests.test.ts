import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createModelTests } from '../../src/agent/model-tests.ts';
import { createMemoryCounter } from '../../src/coordination/fixed-window-counter.ts';
import { createModels } from '../../src/model/models.ts';
import { createOfflineModel } from '../../src/model/offline.ts';
import { createOpenAIModel } from '../../src/model/openai.ts';
import { UNOBSERVED } from '../../src/observability/observer.ts';
import { agent, startApp, type Tenant, type TestApp, testCipher } from '../helpers/app.ts';
import { createTestDeploy } from '../helpers/deploy.ts';
import { type Exchange, type Script, startUpstream, type Upstream } from '../helpers/upstream.ts';

let own: Upstream;
let app: TestApp;
beforeAll(async () => {
  own = await startUpstream();
  app = await startApp({ allowedHosts: [new URL(own.baseUrl).host] });
});
afterAll(() => own.close());

const TEST = `mutation ($botId: ID, $environment: Environment! = PRODUCTION) {
  testModel(botId: $botId, environment: $environment) { model usable checks { name status message advice } } }`;

type Check = { name: string; status: string; message: string; advice: string | null };
type Test = { model: string; usable: boolean; checks: Check[] };

const ask = ({ graphql }: Pick<Tenant, 'graphql'>, botId?: string) => graphql(TEST, { botId });

async function testOf(tenant: Tenant, botId: string): Promise<Test> {
  const { data, errors } = await ask(tenant, botId);
  expect(errors).toBeUndefined();
  return data.testModel;
}

/** The checks that did not pass, without the skipped ones. */
const problems = ({ checks }: Test) =>
  checks.flatMap(({ name, status, message, advice }) =>
    status === 'FAILED' ? [`${name}  ${message} → ${advice}`] : [],
  );

async function deploy(tenant: Tenant, members: string, envVars: Record<string, string> = {}) {
  const botId = await tenant.bot(null);
  await createTestDeploy({ prisma: app.prisma, cipher: testCipher })({
    action: 'DEPLOY',
    botId,
    environment: 'PRODUCTION',
    source: agent(members),
    envVars,
    unsetEnvVars: [],
  });
  return botId;
}

/** A bot with its own model server and key. */
const botWithServer = (tenant: Tenant, settings = '', key = 'sk-of-the-bot-4711') =>
  deploy(tenant, `model "large-1" { base_url env.MODEL_URL api_key env.MODEL_KEY ${settings} }`, {
    MODEL_URL: own.baseUrl,
    MODEL_KEY: key,
  });

/** The tests among the requests. An app may also finish runs that earlier files of its worker left in the database. */
const testsAt = ({ requests }: Upstream) =>
  requests.filter(({ body }) => JSON.stringify(body).includes('ready'));

/** Answers as a good server does. */
const answerWell: Script = ({ request, say, call, end }) => {
  if (request.body.tools) return call(['report_status', { status: 'ready' }]);
  say('{"status": "ready"}');
  end();
};

const refuse =
  (status: number, body: unknown, type = 'application/json'): Script =>
  ({ response }: Exchange) => {
    response.writeHead(status, { 'content-type': type });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
const refuseWith = (status: number, message: string) => refuse(status, { error: { message } });

describe('a test of a bot’s own model server', () => {
  test('asks with the key and the settings of the active deployment, and stores no run', async () => {
    const tenant = await app.tenant();
    own.script(answerWell);
    const before = testsAt(app.upstream).length;
    const bot = await botWithServer(tenant, 'temperature 0.5 reasoning low parameter "top_p" 0.9');
    const result = await testOf(tenant, bot);
    expect(result).toMatchObject({ model: 'large-1', usable: true });
    expect(result.checks.map(({ status }) => status)).toEqual(Array(8).fill('PASSED'));
    const [first] = own.requests.slice(-2);
    expect(first?.headers.authorization).toBe('Bearer sk-of-the-bot-4711');
    expect(first?.body).toMatchObject({
      model: 'large-1',
      temperature: 0.5,
      reasoning_effort: 'low',
      top_p: 0.9,
    });
    expect(testsAt(app.upstream)).toHaveLength(before);
    expect(await app.prisma.run.count({ where: { botId: bot } })).toBe(0);
  });

  test.each<[string, Script, string]>([
    [
      'a wrong key',
      refuseWith(401, 'Incorrect API key provided: sk-of-the-bot-4711.'),
      'API_KEY  The model server refuses the API key (HTTP 401): Incorrect API key provided: [API key]. → Check that the key in `api_key` is complete, is not revoked, and belongs to this provider.',
    ],
    [
      'an unknown model',
      refuseWith(404, 'The model `large-1` does not exist'),
      'MODEL  The model server does not know the model "large-1" (HTTP 404): The model `large-1` does not exist → Check the spelling in the `model` block, and that the server has the model. Ollama lists its models with: ollama list.',
    ],
    [
      'a proxy’s page',
      refuse(502, '<html><h1>Bad Gateway</h1></html>', 'text/html'),
      'REACHABLE  The model server answers with a web page (HTTP 502), not as a model server. → A proxy answers, because the model server behind it does not. Start the model server, and check the address to which the proxy forwards.',
    ],
    [
      'Azure’s older addresses',
      refuseWith(401, 'Access denied due to invalid subscription key.'),
      'API_KEY  The model server refuses the API key (HTTP 401): Access denied due to invalid subscription key. → Check that the key in `api_key` is complete, is not revoked, and belongs to this provider. Azure takes the key at addresses that end in /openai/v1.',
    ],
  ])('says what to do about %s, with the names of the definition', async (_what, script, line) => {
    const tenant = await app.tenant();
    own.script(script);
    const result = await testOf(tenant, await botWithServer(tenant));
    expect(problems(result)).toEqual([line]);
    expect(result.usable).toBe(false);
  });

  test('quotes no value of a variable, also where the server’s text is cut', async () => {
    const tenant = await app.tenant();
    const key = 'sk-canary-0123456789abcdef';
    const bot = await botWithServer(tenant, '', key);
    for (const length of [0, 480, 500, 505, 511]) {
      own.script(refuseWith(400, `${'x'.repeat(length)}${own.baseUrl} ${key}`));
      const text = JSON.stringify(await testOf(tenant, bot));
      expect(text).not.toContain('sk-canary');
      expect(text).not.toContain(new URL(own.baseUrl).port);
    }
  });

  test('says that a variable is not set, or holds no address', async () => {
    const tenant = await app.tenant();
    const members = 'model "m" { base_url env.MODEL_URL api_key env.MODEL_KEY }';
    const unset = await deploy(tenant, members, { MODEL_URL: own.baseUrl });
    expect(problems(await testOf(tenant, unset))).toEqual([
      'REACHABLE  The variable MODEL_KEY of the model is not set. → Deploy the definition again, with a value for the variable.',
    ]);
    const wrong = await deploy(tenant, members, { MODEL_URL: 'no address', MODEL_KEY: 'sk-4711' });
    expect(problems(await testOf(tenant, wrong))).toEqual([
      'REACHABLE  The address of the model server is not a URL with http: or https:. → Correct `base_url`.',
    ]);
  });

  test('fails without a deployment', async () => {
    const tenant = await app.tenant();
    const { errors } = await ask(tenant, await tenant.bot(null));
    expect(errors?.[0]?.extensions.code).toBe('BOT_NOT_DEPLOYED');
    const staging = await tenant.bot('', 'STAGING');
    const answer = await tenant.graphql(TEST, { botId: staging, environment: 'STAGING' });
    expect(answer.errors).toBeUndefined();
  });
});

describe('a test of the operator’s model server', () => {
  const operatorOf = async (tenant: Tenant) => {
    const key = await tenant.key({ scopes: ['OPERATOR'] });
    return { graphql: (query: string, variables?: object) => app.graphql(key, query, variables) };
  };

  test('names its host and the settings to the operator', async () => {
    app.upstream.script(refuseWith(401, 'Wrong key.'));
    const { data } = await ask(await operatorOf(await app.tenant()));
    const { host } = new URL(app.upstream.baseUrl);
    expect(data.testModel.model).toBe('scripted');
    expect(problems(data.testModel)).toEqual([
      `API_KEY  ${host} requires an API key (HTTP 401): Wrong key. → Set OPENAI_API_KEY.`,
    ]);
  });

  test.each<[string, Script, string]>([
    [
      'a wrong key',
      ({ request, response }) => {
        response.writeHead(401, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ message: `No key at http://${request.headers.host}/v1.` }));
      },
      'API_KEY  The operator’s model server requires an API key (HTTP 401): No key at http://the model server/v1. → Ask the operator of Parley to test the model server.',
    ],
    [
      'an unknown default model',
      refuseWith(404, 'model not found'),
      'MODEL  The operator’s model server does not know the model "scripted" (HTTP 404): model not found → Ask the operator of Parley to test the model server.',
    ],
    [
      'a failure',
      refuseWith(500, 'CUDA out of memory'),
      'STREAMING  The operator’s model server failed (HTTP 500): CUDA out of memory → Ask the operator of Parley to test the model server.',
    ],
  ])('names neither to a tenant: %s', async (_what, script, line) => {
    const tenant = await app.tenant();
    app.upstream.script(script);
    const result = await testOf(tenant, await tenant.bot());
    expect(problems(result)).toEqual([line]);
    const text = JSON.stringify(result);
    expect(text).not.toMatch(/OPENAI_/);
    expect(text).not.toContain(new URL(app.upstream.baseUrl).port);
  });

  test('names neither to a tenant when it is away', async () => {
    const away = await startUpstream();
    await away.close();
    const model = createOpenAIModel({ baseUrl: away.baseUrl, defaultModel: 'm', retryDelayMs: 1 });
    const other = await startApp({ model });
    const tenant = await other.tenant();
    expect(problems(await testOf(tenant, await tenant.bot()))).toEqual([
      'REACHABLE  The operator’s model server refuses the connection (ECONNREFUSED): no program listens there. → Ask the operator of Parley to test the model server.',
    ]);
  });

  test('says that there is none', async () => {
    const other = await startApp({ model: createOfflineModel({ pace: 0 }) });
    const tenant = await other.tenant();
    const result = await testOf(tenant, await tenant.bot());
    expect(result).toMatchObject({ model: 'offline', usable: false });
    expect(problems(result)).toEqual([
      'REACHABLE  No model server is configured: the offline model answers, which only repeats messages. → Ask the operator of Parley to test the model server.',
    ]);
  });
});

describe('the right to test a model', () => {
  test('requires DEPLOY for a bot of the account, and OPERATOR for the default model', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const other = await app.tenant();
    const codeOf = async (answer: ReturnType<typeof ask>) =>
      (await answer).errors?.[0]?.extensions.code;
    const before = testsAt(app.upstream).length;
    const unknown = await codeOf(ask(other, 'none'));
    expect(await codeOf(ask(other, bot))).toBe('BOT_ACCESS_DENIED');
    expect(unknown).toBe('BOT_NOT_FOUND');
    const weak = await tenant.key({ scopes: ['CHAT', 'RUNS', 'ADMIN'] });
    expect(await codeOf(app.graphql(weak, TEST, { botId: bot }))).toBe('INSUFFICIENT_SCOPE');
    expect(await codeOf(ask(tenant))).toBe('INSUFFICIENT_SCOPE');
    expect(testsAt(app.upstream)).toHaveLength(before);
  });
});

describe('concurrent and frequent tests', () => {
  test('share one test', async () => {
    const before = own.requests.length;
    own.script(answerWell);
    const standard = createOpenAIModel({ baseUrl: own.baseUrl, defaultModel: 'm' });
    const { testDefault } = createModelTests({
      models: createModels({ standard, fetchOf: () => fetch, observer: UNOBSERVED }),
      activeDeployments: { find: () => Promise.reject(new Error('There is none.')) },
      counter: createMemoryCounter(),
    });
    const { signal } = new AbortController();
    const tests = Array.from({ length: 15 }, () => testDefault('account', signal));
    const results = await Promise.all(tests);
    expect(results.map(({ isUsable }) => isUsable)).toEqual(Array(15).fill(true));
    expect(own.requests.length - before).toBe(2);
  });

  test('are limited to 10 a minute of an account', async () => {
    let now = Date.parse('2026-01-01T00:00:30Z');
    const other = await startApp({ clock: () => now });
    other.upstream.script(refuseWith(401, 'Wrong key.'));
    const tenant = await other.tenant();
    const bots = [await tenant.bot(), await tenant.bot()];
    for (let sent = 0; sent < 10; sent += 1) await testOf(tenant, bots[sent % 2] ?? '');
    const before = testsAt(other.upstream).length;
    const { errors } = await ask(tenant, bots[0]);
    expect(errors?.[0]).toMatchObject({
      message: 'Too many tests of models. Wait 30 seconds.',
      extensions: { code: 'RATE_LIMIT_EXCEEDED', retryAfter: 30 },
    });
    expect(testsAt(other.upstream)).toHaveLength(before);
    const stranger = await other.tenant();
    expect((await testOf(stranger, await stranger.bot())).usable).toBe(false);
    now += 30_000;
    expect((await testOf(tenant, bots[0] ?? '')).usable).toBe(false);
  });

  test('end at the model server when all of their clients have left', async () => {
    const tenant = await app.tenant();
    const bot = await botWithServer(tenant);
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    own.script(async ({ closed }) => {
      arrive();
      await closed;
      end();
    });
    const leaving = new AbortController();
    const left = fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ query: TEST, variables: { botId: bot } }),
      signal: leaving.signal,
    }).catch(() => undefined);
    await arrived;
    leaving.abort();
    await left;
    await ended;
  });
});
