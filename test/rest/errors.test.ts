import { beforeAll, describe, expect, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { ERROR_STATUS, type ErrorCode } from '../../src/errors.ts';
import { type GraphQLAnswer, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { testDatabase } from '../helpers/database.ts';
import { DOCUMENTED_STATUS, readError } from '../helpers/documented.ts';
import type { Script } from '../helpers/upstream.ts';

let app: TestApp;
let broken: TestApp;
let tenant: Tenant;
let bot: string;
/** A bot that soon gives up. */
let impatient: string;
let foreign: string;
let undeployed: string;
let failed: string;
beforeAll(async () => {
  app = await startApp();
  const database = await testDatabase();
  const prisma = new Proxy(database.prisma, {
    get: (target, name, receiver) => {
      if (name === 'apiKey') throw new Error('canary of the database');
      return Reflect.get(target, name, receiver);
    },
  });
  broken = await startApp({ database: { ...database, prisma } });
  tenant = await app.tenant();
  bot = await tenant.bot();
  impatient = await tenant.bot('limits { run_time 60ms }');
  foreign = await (await app.tenant()).bot();
  undeployed = await tenant.bot(null);
  const attempt = await rest('deploy', { agentlang: 'nonsense' });
  failed = ((await attempt.json()) as { deployment_id: string }).deployment_id;
});

type Options = { of?: string; key?: string | null; url?: string; headers?: object };

const headersFor = (key: string | null) => ({
  'content-type': 'application/json',
  ...(key && { authorization: `Bearer ${key}` }),
});

/** Posts to a route of a bot; a text goes as it stands. */
function rest(path: string, body: object | string, options: Options = {}): Promise<Response> {
  const { of = bot, key = tenant.apiKey, url = app.url, headers } = options;
  return fetch(`${url}/v1/bots/${of}/${path}`, {
    method: 'POST',
    headers: { ...headersFor(key), ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** Runs an operation; a text goes as it stands for the whole body. */
async function graphql(
  operation: { query: string } | string,
  { key = tenant.apiKey, url = app.url }: Options = {},
): Promise<GraphQLAnswer> {
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: headersFor(key),
    body: typeof operation === 'string' ? operation : JSON.stringify(operation),
  });
  return (await answer.json()) as GraphQLAnswer;
}

const chat = (of: string, input = 'message: "Hi"') => ({
  query: `mutation { chat(botId: "${of}", input: { ${input} }) { response } }`,
});
const rollback = (id: string) => ({
  query: `mutation { rollback(botId: "${bot}", deploymentId: "${id}") { id } }`,
});
const hi = { message: 'Hi' };

/** A key that has been spent on something else. */
async function spentKey(): Promise<string> {
  const key = 'spent';
  await rest('execute', { prompt: 'First' }, { headers: { 'idempotency-key': key } });
  return key;
}

/** Does something while a session is at work on another message. */
async function whileBusy<T>(act: () => Promise<T>): Promise<T> {
  const [asked, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  app.upstream.script(async ({ end }) => {
    asked.resolve();
    await finish.promise;
    end();
  });
  const first = rest('chat', hi, { headers: { 'x-session-id': 'busy' } });
  await asked.promise;
  const answer = await act();
  finish.resolve();
  await first;
  return answer;
}

/** Of a tenant that has no request left. */
async function spentTenant(): Promise<string> {
  const poor = await app.tenant({ requestsPerMinute: 1 });
  await rest('chat', hi, { key: poor.apiKey });
  return poor.apiKey;
}

const refused: Script = ({ response }) => void response.writeHead(400).end();
const silent: Script = async ({ closed }) => {
  await closed;
};

/** Does something while the model's server does as it is told. */
function withModel<T>(script: Script, act: () => Promise<T>): Promise<T> {
  app.upstream.script(script);
  return act();
}

type Way = { rest(): Promise<Response>; graphql?(): Promise<GraphQLAnswer> };

/** How each error is met, by both interfaces; the others stand by themselves: those of runs below, `definition_invalid` in `deploy-source.test.ts`. */
const WAYS: Record<Exclude<ErrorCode, 'interrupted' | 'definition_invalid'>, Way> = {
  invalid_json: { rest: () => rest('chat', '{'), graphql: () => graphql('{') },
  invalid_request: {
    rest: () => rest('chat', { message: '' }),
    graphql: () => graphql(chat(bot, 'message: ""')),
  },
  request_too_large: {
    rest: () => rest('chat', { message: 'x'.repeat(1024 * 1024) }),
    graphql: () => graphql(chat(bot, `message: "${'x'.repeat(1024 * 1024)}"`)),
  },
  bot_not_deployed: {
    rest: () => rest('chat', hi, { of: undeployed }),
    graphql: () => graphql(chat(undeployed)),
  },
  deployment_not_deployable: {
    rest: () => rest(`deployments/${failed}/rollback`, {}),
    graphql: () => graphql(rollback(failed)),
  },
  idempotency_conflict: {
    rest: async () =>
      rest('execute', { prompt: 'Other' }, { headers: { 'idempotency-key': await spentKey() } }),
    graphql: async () =>
      graphql({
        query: `mutation { execute(botId: "${bot}", input: { prompt: "Other", idempotencyKey: "${await spentKey()}" }) { id } }`,
      }),
  },
  session_busy: {
    rest: () =>
      whileBusy(() =>
        rest('chat', hi, { headers: { 'x-session-id': 'busy', 'x-on-busy': 'reject' } }),
      ),
    graphql: () =>
      whileBusy(() => graphql(chat(bot, 'message: "Hi", sessionId: "busy", onBusy: REJECT'))),
  },
  missing_api_key: {
    rest: () => rest('chat', hi, { key: null }),
    graphql: () => graphql(chat(bot), { key: null }),
  },
  invalid_api_key: {
    rest: () => rest('chat', hi, { key: makeApiKey() }),
    graphql: () => graphql(chat(bot), { key: makeApiKey() }),
  },
  bot_access_denied: {
    rest: () => rest('chat', hi, { of: foreign }),
    graphql: () => graphql(chat(foreign)),
  },
  insufficient_scope: {
    rest: async () => rest('chat', hi, { key: await tenant.key({ scopes: ['RUNS'] }) }),
    graphql: async () => graphql(chat(bot), { key: await tenant.key({ scopes: ['RUNS'] }) }),
  },
  bot_not_found: {
    rest: () => rest('chat', hi, { of: 'none' }),
    graphql: () => graphql(chat('none')),
  },
  deployment_not_found: {
    rest: () => rest('deployments/dep_none/rollback', {}),
    graphql: () => graphql(rollback('dep_none')),
  },
  run_not_found: {
    rest: () => rest('runs/run_none/cancel', {}),
    graphql: () =>
      graphql({ query: `mutation { cancelRun(botId: "${bot}", id: "run_none") { id } }` }),
  },
  // GraphQL has one address: what is not there is a field that is not valid.
  not_found: { rest: () => rest('nothing', {}) },
  rate_limit_exceeded: {
    rest: async () => rest('chat', hi, { key: await spentTenant() }),
    graphql: async () => graphql(chat(bot), { key: await spentTenant() }),
  },
  internal_error: {
    rest: () => rest('chat', hi, { url: broken.url }),
    graphql: () => graphql(chat(bot), { url: broken.url }),
  },
  model_error: {
    rest: () => withModel(refused, () => rest('chat', hi)),
    graphql: () => withModel(refused, () => graphql(chat(bot))),
  },
  model_timeout: {
    rest: () => withModel(silent, () => rest('chat', hi, { of: impatient })),
    graphql: () => withModel(silent, () => graphql(chat(impatient))),
  },
};

describe('every error is the same by both interfaces', () => {
  test.each(Object.entries(WAYS))('%s', async (code, way) => {
    const answer = await way.rest();
    const { status, headers } = answer;
    const error = readError({ status, headers, body: await answer.text() });
    expect([status, error.code]).toEqual([DOCUMENTED_STATUS[code], code]);
    if (!way.graphql) return;
    const { errors } = await way.graphql();
    expect(errors).toHaveLength(1);
    expect(errors?.[0]?.extensions.code).toBe(code.toUpperCase());
    // The two name the same input by different names, and wait for different times.
    const isAboutInput = 'details' in error || 'retry_after' in error;
    if (!isAboutInput) expect(errors?.[0]?.message).toBe(error.message);
    expect(JSON.stringify([error, errors])).not.toContain('canary');
  });

  test('and the server knows no other status than the documents do', () => {
    const { interrupted, ...statuses } = ERROR_STATUS;
    expect(statuses).toEqual(DOCUMENTED_STATUS);
    expect(interrupted).toBe(500);
  });

  test('interrupted, of a run whose process has died', async () => {
    const of = await tenant.bot();
    const chatted = await withModel(
      ({ end }) => end(),
      () => rest('chat', hi, { of }),
    );
    const id = chatted.headers.get('x-run-id') ?? '';
    await app.prisma.run.update({
      where: { id },
      data: { status: 'FAILED', errorCode: 'interrupted', errorMessage: 'It died.' },
    });
    const read = await fetch(`${app.url}/v1/bots/${of}/runs/${id}`, tenant);
    expect(await read.json()).toMatchObject({
      status: 'failed',
      error: { code: 'interrupted', message: 'It died.' },
    });
    const { data } = await graphql({ query: `{ run(id: "${id}") { error { code message } } }` });
    expect(data.run.error).toEqual({ code: 'INTERRUPTED', message: 'It died.' });
  });
});
