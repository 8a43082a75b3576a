import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { ERRORS, type ErrorCode } from '../../src/errors/errors.ts';
import { type GraphQLAnswer, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { testDatabase } from '../helpers/database.ts';
import { DOCUMENTED_STATUS, readError } from '../helpers/documented.ts';
import { hello, type Script } from '../helpers/upstream.ts';

let app: TestApp;
let broken: TestApp;
let tenant: Tenant;
let bot: string;
/** A bot whose runs time out quickly. */
let quickTimeout: string;
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
  quickTimeout = await tenant.bot('limits { run_time 60ms }');
  foreign = await (await app.tenant()).bot();
  undeployed = await tenant.bot(null);
  const attempt = await rest('deploy', { agentlang: 'nonsense' });
  failed = ((await attempt.json()) as { deployment_id: string }).deployment_id;
});
beforeEach(() => {
  app.upstream.script(hello);
});

type Options = { of?: string; key?: string | null; url?: string; headers?: object };

const headersFor = (key: string | null) => ({
  'content-type': 'application/json',
  ...(key && { authorization: `Bearer ${key}` }),
});

/** Posts to a route of a bot. A string is sent verbatim. */
function rest(path: string, body: object | string, options: Options = {}): Promise<Response> {
  const { of = bot, key = tenant.apiKey, url = app.url, headers } = options;
  return fetch(`${url}/v1/bots/${of}/${path}`, {
    method: 'POST',
    headers: { ...headersFor(key), ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** Runs an operation. A string is sent verbatim as the body. */
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

/** Posts to a route of OpenAI's API. */
const openai = (path: string, body: object) =>
  fetch(`${app.url}/v1/${path}`, {
    method: 'POST',
    headers: headersFor(tenant.apiKey),
    body: JSON.stringify(body),
  });
const completion = (more: object = {}) =>
  openai('chat/completions', {
    model: bot,
    messages: [{ role: 'user', content: 'Hi' }],
    ...more,
  });

/** The id of a turn that is not the last one of its session. */
async function earlierTurn(): Promise<string> {
  const headers = { 'x-session-id': 'two-turns' };
  for (const _ of [1, 2]) await rest('chat', hi, { headers });
  const { id } = await app.prisma.run.findFirstOrThrow({
    where: { botId: bot, sessionId: 'two-turns' },
    orderBy: { id: 'asc' },
  });
  return id;
}

const chat = (of: string, input = 'message: "Hi"') => ({
  query: `mutation { chat(botId: "${of}", input: { ${input} }) { response } }`,
});
const rollback = (id: string) => ({
  query: `mutation { rollback(botId: "${bot}", deploymentId: "${id}") { id } }`,
});
const hi = { message: 'Hi' };

/** An idempotency key that was used for another request. */
async function usedKey(): Promise<string> {
  const key = 'spent';
  await rest('execute', { prompt: 'First' }, { headers: { 'idempotency-key': key } });
  return key;
}

/** Performs an action while a session is busy with another message. */
async function whileBusy<T>(act: () => Promise<T>): Promise<T> {
  const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  app.upstream.script(async ({ end }) => {
    started.resolve();
    await finish.promise;
    end();
  });
  const first = rest('chat', hi, { headers: { 'x-session-id': 'busy' } });
  await started.promise;
  const answer = await act();
  finish.resolve();
  await first;
  return answer;
}

/** The key of a tenant without remaining requests. */
async function exhaustedTenant(): Promise<string> {
  // The daily limit, so that no change of minute interferes.
  const limited = await app.tenant({ requestsPerDay: 1 });
  await rest('chat', hi, { key: limited.apiKey });
  return limited.apiKey;
}

const refused: Script = ({ response }) => void response.writeHead(400).end();
const filtered: Script = ({ response }) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end('data: {"choices":[{"delta":{},"finish_reason":"content_filter"}]}\n\n');
};
const silent: Script = async ({ closed }) => {
  await closed;
};

/** Performs an action with a scripted model. */
function withModel<T>(script: Script, act: () => Promise<T>): Promise<T> {
  app.upstream.script(script);
  return act();
}

type Way = { rest(): Promise<Response>; graphql?(): Promise<GraphQLAnswer> };

/** Codes that other files test: `deploy-source`, `text-search`, and `approvals` for the last three; `interrupted` below. */
type Elsewhere =
  | 'interrupted'
  | 'definition_invalid'
  | 'search_too_broad'
  | 'already_decided'
  | 'approval_not_found'
  | 'evaluation_not_found'
  | 'tool_gone';

/** How to cause each error over both interfaces. */
const WAYS: Record<Exclude<ErrorCode, Elsewhere>, Way> = {
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
      rest('execute', { prompt: 'Other' }, { headers: { 'idempotency-key': await usedKey() } }),
    graphql: async () =>
      graphql({
        query: `mutation { execute(botId: "${bot}", input: { prompt: "Other", idempotencyKey: "${await usedKey()}" }) { id } }`,
      }),
  },
  // Only OpenAI's API has messages with parts, and parameters that no bot offers.
  unsupported_content: {
    rest: () => completion({ messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }),
  },
  unsupported_parameter: { rest: () => completion({ n: 2 }) },
  not_last: {
    rest: async () =>
      fetch(`${app.url}/v1/responses/${await earlierTurn()}`, {
        method: 'DELETE',
        headers: tenant.headers,
      }),
    graphql: async () =>
      graphql({ query: `mutation { deleteTurn(id: "${await earlierTurn()}") }` }),
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
  model_not_found: {
    rest: () => completion({ model: 'none' }),
    graphql: () => graphql({ query: '{ deployedBot(botId: "none") { botId } }' }),
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
  // GraphQL has one URL. An unknown name is an invalid field.
  not_found: { rest: () => rest('nothing', {}) },
  rate_limit_exceeded: {
    rest: async () => rest('chat', hi, { key: await exhaustedTenant() }),
    graphql: async () => graphql(chat(bot), { key: await exhaustedTenant() }),
  },
  internal_error: {
    rest: () => rest('chat', hi, { url: broken.url }),
    graphql: () => graphql(chat(bot), { url: broken.url }),
  },
  model_error: {
    rest: () => withModel(refused, () => rest('chat', hi)),
    graphql: () => withModel(refused, () => graphql(chat(bot))),
  },
  content_filtered: {
    rest: () => withModel(filtered, () => rest('chat', hi)),
    graphql: () => withModel(filtered, () => graphql(chat(bot))),
  },
  model_timeout: {
    rest: () => withModel(silent, () => rest('chat', hi, { of: quickTimeout })),
    graphql: () => withModel(silent, () => graphql(chat(quickTimeout))),
  },
};

describe('every error is the same over both interfaces', () => {
  test.each(Object.entries(WAYS))('%s', async (code, way) => {
    const answer = await way.rest();
    const { status, headers } = answer;
    const error = readError({ status, headers, body: await answer.text() });
    expect([status, error.code]).toEqual([DOCUMENTED_STATUS[code], code]);
    if (!way.graphql) return;
    const { errors } = await way.graphql();
    expect(errors).toHaveLength(1);
    expect(errors?.[0]?.extensions.code).toBe(code.toUpperCase());
    // The two use different names for the input, and have different retry times.
    const isAboutInput = 'details' in error || 'retry_after' in error || code === 'model_not_found';
    if (!isAboutInput) expect(errors?.[0]?.message).toBe(error.message);
    expect(JSON.stringify([error, errors])).not.toContain('canary');
  });

  test('the server has no other statuses than the API document', () => {
    const { interrupted, ...others } = ERRORS;
    const statuses = Object.entries(others).map(([code, { status }]) => [code, status]);
    expect(Object.fromEntries(statuses)).toEqual(DOCUMENTED_STATUS);
    expect(interrupted.status).toBe(500);
  });

  test('interrupted: a run whose process died', async () => {
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
