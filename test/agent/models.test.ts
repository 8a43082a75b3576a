import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { agent, startApp, type Tenant, type TestApp, testCipher } from '../helpers/app.ts';
import { createTestDeploy } from '../helpers/deploy.ts';
import { hello, startUpstream, type Upstream } from '../helpers/upstream.ts';

let botUpstream: Upstream;
let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  botUpstream = await startUpstream();
  app = await startApp({ allowedHosts: [new URL(botUpstream.baseUrl).host] });
  tenant = await app.tenant();
});
beforeEach(() => {
  for (const upstream of [app.upstream, botUpstream]) upstream.script(hello);
});
afterAll(() => botUpstream.close());
afterEach(() => vi.unstubAllEnvs());

const deploy = async (members: string, envVars: Record<string, string> = {}) => {
  const botId = await tenant.bot(null);
  const deployNow = createTestDeploy({ prisma: app.prisma, cipher: testCipher });
  await deployNow({
    action: 'DEPLOY',
    botId,
    environment: 'PRODUCTION',
    source: agent(members),
    envVars,
    unsetEnvVars: [],
  });
  return botId;
};

describe('a bot with its own model server', () => {
  test('uses it with the key from its variables, and the run has the model’s name', async () => {
    const bot = await deploy('model "large-1" { base_url env.MODEL_URL api_key env.MODEL_KEY }', {
      MODEL_URL: botUpstream.baseUrl,
      MODEL_KEY: 'sk-of-the-bot',
    });
    const before = app.upstream.requests.length;
    const response = await tenant.chat(bot, { message: 'Hi' });
    expect(await response.json()).toMatchObject({ response: 'Hello there.' });
    expect(botUpstream.requests.at(-1)).toMatchObject({
      headers: { authorization: 'Bearer sk-of-the-bot' },
      body: { model: 'large-1' },
    });
    expect(app.upstream.requests).toHaveLength(before);
    const id = response.headers.get('x-run-id') ?? '';
    expect(await app.prisma.run.findUnique({ where: { id } })).toMatchObject({ model: 'large-1' });
  });

  test.each([
    ['its own key', 'api_key env.MODEL_KEY', 'Bearer sk-of-the-bot'],
    ['no key', '', 'Bearer none'],
  ])(
    'sends it %s, and none of the operator’s headers, keys and settings',
    async (_what, key, sent) => {
      vi.stubEnv('OPENAI_API_KEY', 'sk-operator');
      vi.stubEnv('OPENAI_ADMIN_KEY', 'sk-admin');
      vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:1/v1');
      vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'X-Gateway: secret\nAuthorization: Bearer sk-operator');
      vi.stubEnv('OPENAI_LOG', 'debug');
      vi.stubEnv('OPENAI_ORG_ID', 'org-operator');
      vi.stubEnv('OPENAI_PROJECT_ID', 'proj-operator');
      vi.stubEnv('OPENAI_WEBHOOK_SECRET', 'whsec-operator');
      const bot = await deploy(`model "m" { base_url env.MODEL_URL ${key} }`, {
        MODEL_URL: botUpstream.baseUrl,
        MODEL_KEY: 'sk-of-the-bot',
      });
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      const response = await tenant.chat(bot, { message: 'Hi' }, { traceparent });
      expect(response.status).toBe(200);
      const {
        host,
        connection,
        'content-length': length,
        ...headers
      } = botUpstream.requests.at(-1)?.headers ?? {};
      expect(headers).toEqual({
        accept: 'application/json',
        'accept-encoding': 'identity',
        authorization: sent,
        'content-type': 'application/json',
        'user-agent': expect.stringMatching(/^parley\/\d+\.\d+\.\d+$/),
      });
    },
  );

  test.each(['sk-a\nb', ' '])(
    'fails before the request if the key is no valid header value: %j',
    async (K) => {
      const bot = await deploy('model "m" { base_url env.URL api_key env.K }', {
        URL: botUpstream.baseUrl,
        K,
      });
      const response = await tenant.chat(bot, { message: 'Hi' });
      expect(await response.json()).toMatchObject({
        error: {
          code: 'model_error',
          message: 'The variable K of the model does not hold a valid API key.',
        },
      });
    },
  );

  test('streams from it, and disconnects from it when its client disconnects', async () => {
    const bot = await deploy(
      `model "large-1" { base_url "${botUpstream.baseUrl}" api_key env.K }`,
      {
        K: 'sk-x',
      },
    );
    const hungUp = Promise.withResolvers<void>();
    botUpstream.script(async ({ say, closed }) => {
      say('Well');
      await closed;
      hungUp.resolve();
    });
    const leaving = new AbortController();
    const response = await fetch(`${app.url}/v1/bots/${bot}/chat/stream?message=Hi`, {
      headers: tenant.headers,
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    leaving.abort();
    await hungUp.promise;
  });

  test('fails at once if the server’s error response never ends', async () => {
    const bot = await deploy(
      `model "large-1" { base_url "${botUpstream.baseUrl}" api_key env.K }`,
      {
        K: 'sk-x',
      },
    );
    const hungUp = Promise.withResolvers<void>();
    botUpstream.script(async ({ response, closed }) => {
      response.writeHead(401).write('No');
      await closed;
      hungUp.resolve();
    });
    const response = await tenant.chat(bot, { message: 'Hi' });
    expect(await response.json()).toMatchObject({
      error: { code: 'model_error', message: "The model's server answered 401." },
    });
    await hungUp.promise;
  });

  test.each([301, 302, 307, 308])('is not followed to a private address by %i', async (status) => {
    const bot = await deploy(`model "m" { base_url "${botUpstream.baseUrl}" }`);
    const location = `${app.upstream.baseUrl}/chat/completions`;
    botUpstream.script(({ response }) => void response.writeHead(status, { location }).end());
    const before = app.upstream.requests.length;
    const response = await tenant.chat(bot, { message: 'Hi' });
    expect(await response.json()).toMatchObject({ error: { code: 'model_error' } });
    expect(app.upstream.requests.length).toBe(before);
  });

  test.each([
    ['in a private network', 'http://10.0.0.1/v1'],
    ['on this machine', 'http://127.0.0.1:1/v1'],
    ['of cloud metadata', 'http://169.254.169.254/v1'],
  ])('cannot use a server %s', async (_what, url) => {
    const bot = await deploy('model "m" { base_url env.URL api_key env.K }', {
      URL: url,
      K: 'sk-x',
    });
    const response = await tenant.chat(bot, { message: 'Hi' });
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({
      error: { code: 'model_error', message: "The model's server cannot be reached." },
    });
  });

  test('names a server that cannot be reached, unless a variable holds its URL', async () => {
    const detailOf = async (bot: string) => {
      const response = await tenant.chat(bot, { message: 'Hi' });
      expect(response.status).toBe(500);
      const id = response.headers.get('x-run-id') ?? '';
      const { errorCode, errorDetail } = await app.prisma.run.findUniqueOrThrow({ where: { id } });
      expect(errorCode).toBe('model_error');
      return errorDetail;
    };
    const url = 'http://127.0.0.1:1/v1?key=canary';
    expect(await detailOf(await deploy(`model "m" { base_url "${url}" }`))).toBe('127.0.0.1:1');
    const secret = await deploy('model "m" { base_url env.URL }', { URL: url });
    expect(await detailOf(secret)).toBeNull();
  });

  test('fails with a clear error if its variable is not set', async () => {
    const bot = await deploy('model "m" { api_key env.MISSING }');
    const response = await tenant.chat(bot, { message: 'Hi' });
    expect(await response.json()).toMatchObject({
      error: { code: 'model_error', message: 'The variable MISSING of the model is not set.' },
    });
    const id = response.headers.get('x-run-id') ?? '';
    expect(await app.prisma.run.findUnique({ where: { id } })).toMatchObject({ status: 'FAILED' });
  });
});
