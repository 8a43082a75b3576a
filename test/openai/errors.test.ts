import { beforeAll, describe, expect, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { readError } from '../helpers/documented.ts';
import { answerTo, requestText } from '../helpers/wire.ts';
import { type Asker, createAsker } from './asker.ts';

let app: TestApp;
let tenant: Tenant;
let asker: Asker;
let bot: string;

beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  asker = await createAsker(app, tenant.apiKey);
  bot = await tenant.bot();
});

type Init = { method?: string; body?: string; headers?: Record<string, string> };

/** Sends a request that must be refused. @returns the error, whose form and headers are checked. */
async function errorOf(path: string, init: Init = {}, key: string | null = tenant.apiKey) {
  const authorization: HeadersInit = key === null ? {} : { authorization: `Bearer ${key}` };
  const answer = await fetch(`${app.url}/v1${path}`, {
    ...init,
    headers: { 'content-type': 'application/json', ...authorization, ...init.headers },
  });
  const { status, headers } = answer;
  const { code, type, param } = readError({ status, headers, body: await answer.text() });
  return [status, code, type, param];
}

const body = () => JSON.stringify({ model: bot, messages: [{ role: 'user', content: 'Hi' }] });
const post = (text: string, headers = {}) => ({ method: 'POST', body: text, headers });

describe('below the paths of OpenAI’s API, errors have the form of that API', () => {
  test('a missing and an unknown key', async () => {
    for (const [path, init] of [
      ['/models', {}],
      ['/models/x', {}],
      ['/chat/completions', post(body())],
      ['/responses', post(body())],
      ['/responses/run_1', { method: 'DELETE' }],
    ] as const) {
      const missing = await errorOf(path, init, null);
      expect(missing).toEqual([401, 'missing_api_key', 'authentication_error', null]);
      const unknown = await errorOf(path, init, makeApiKey());
      expect(unknown).toEqual([401, 'invalid_api_key', 'authentication_error', null]);
    }
  });

  test('a key without the scope', async () => {
    const weak = await tenant.key({ scopes: ['DEPLOY'] });
    const refused = [403, 'insufficient_scope', 'permission_error', null];
    expect(await errorOf('/models', {}, weak)).toEqual(refused);
    expect(await errorOf('/chat/completions', post(body()), weak)).toEqual(refused);
    expect(await errorOf('/responses', post('{'), weak)).toEqual(refused);
  });

  test('a bot that the key may not use, or that is not deployed', async () => {
    const denied = [403, 'bot_access_denied', 'permission_error', null];
    const narrow = await tenant.key({ botIds: [] });
    expect(await errorOf('/chat/completions', post(body()), narrow)).toEqual(denied);
    const undeployed = await tenant.bot(null);
    const missing = [404, 'model_not_found', 'not_found_error', 'model'];
    for (const model of [undeployed, 'none', `${bot}:staging`]) {
      const request = { model, messages: [{ role: 'user', content: 'Hi' }], input: 'Hi' };
      for (const path of ['/chat/completions', '/responses'])
        expect(await errorOf(path, post(JSON.stringify(request)))).toEqual(missing);
    }
  });

  test('an unknown path and a wrong method', async () => {
    const missing = [404, 'not_found', 'not_found_error', null];
    for (const path of ['/chat/completions/cmpl_1', '/models/a/b', '/responses/a/b/c'])
      expect(await errorOf(path)).toEqual(missing);
    for (const path of ['/models', '/chat/completions', '/responses'])
      expect(await errorOf(path, { method: 'PUT', body: '{}' })).toEqual(missing);
  });

  test('a body that is not JSON, of another type, or too large', async () => {
    const json = [400, 'invalid_json', 'invalid_request_error', null];
    for (const path of ['/chat/completions', '/responses']) {
      expect(await errorOf(path, post('{'))).toEqual(json);
      expect(await errorOf(path, post(''))).toEqual(json);
      expect((await errorOf(path, post('Hi', { 'content-type': 'text/plain' })))[2]).toBe(
        'invalid_request_error',
      );
      expect(await errorOf(path, post('5'))).toEqual([
        400,
        'invalid_request',
        'invalid_request_error',
        null,
      ]);
      const large = post(`"${'x'.repeat(1024 * 1024)}"`);
      expect(await errorOf(path, large)).toEqual([
        400,
        'request_too_large',
        'invalid_request_error',
        null,
      ]);
    }
  });

  test('a request beyond the rate limit, with the time to wait', async () => {
    const poor = await app.tenant({ requestsPerMinute: 1, requestsPerDay: 1 });
    await errorOf('/models/none', {}, poor.apiKey);
    for (const path of ['/models', '/responses/run_1'])
      expect(await errorOf(path, {}, poor.apiKey)).toEqual([
        429,
        'rate_limit_exceeded',
        'rate_limit_error',
        null,
      ]);
  });

  test('a request that the HTTP parser or the framework refuses', async () => {
    const authorization = `Bearer ${tenant.apiKey}`;
    const head = { authorization, 'content-type': 'application/json' };
    const undecodable = await answerTo(app.url, requestText('GET /v1/models/%zz', head));
    expect(readError(undecodable).type).toBeDefined();
    const encoded = { ...head, 'content-encoding': 'gzip' };
    const zipped = await answerTo(
      app.url,
      requestText('POST /v1/chat/completions', encoded, body()),
    );
    expect(readError(zipped).type).toBe('invalid_request_error');
  });

  test('and elsewhere they have Parley’s own form', async () => {
    expect(await errorOf('/modelsx')).toEqual([404, 'not_found', undefined, undefined]);
    expect(await errorOf('/bots/none/chat', post('{}'))).toEqual([
      404,
      'bot_not_found',
      undefined,
      undefined,
    ]);
  });
});

describe('an address that a client calls because of a wrong base URL leads to the right one', () => {
  const COMPLETIONS = 'POST /v1/chat/completions';

  async function errorAt(method: string, path: string, isLimited: boolean) {
    const answer = await fetch(app.url + path, {
      method,
      headers: { authorization: `Bearer ${tenant.apiKey}` },
    });
    const { status, headers } = answer;
    return readError({ status, headers, body: await answer.text() }, isLimited);
  }

  test.for([
    ['POST', '/chat/completions', COMPLETIONS],
    ['POST', '/chat/completions?api-version=1', COMPLETIONS],
    ['GET', '/models', 'GET /v1/models'],
    ['POST', '/responses', 'POST /v1/responses'],
    ['POST', '/openai/v1/chat/completions', COMPLETIONS],
    ['POST', '/v1/v1/responses', 'POST /v1/responses'],
    ['POST', '/v1//chat/completions', COMPLETIONS],
    ['POST', '/v1/chat/completions/', COMPLETIONS],
    ['POST', '/v1/chat/completions/chat/completions', COMPLETIONS],
    ['POST', '/v1/completions', COMPLETIONS],
    ['GET', '/v1/chat/completions', COMPLETIONS],
  ] as const)('%s %s', async ([method, path, right]) => {
    const error = await errorAt(method, path, path.startsWith('/v1'));
    expect(error).toMatchObject({
      code: 'not_found',
      message:
        `There is nothing at ${method} ${path.split('?')[0]}. The address is ${right}; ` +
        'the base URL of a client ends in /v1.',
      type: 'not_found_error',
      param: null,
    });
  });

  test('an MCP client learns the path of its server, in Parley’s own form', async () => {
    const { message, type } = await errorAt('POST', '/v1/mcp', true);
    expect(message).toBe('There is nothing at POST /v1/mcp. The address is POST /mcp.');
    expect(type).toBeUndefined();
  });

  test.for([
    ['POST', '/v1/bots/demo/responses', true],
    ['GET', '/v1/modelsx', true],
    ['GET', '/my/models', false],
    ['POST', '/v1/embeddings', true],
  ] as const)('%s %s is only unknown', async ([method, path, isLimited]) => {
    const { message, type } = await errorAt(method, path, isLimited);
    expect(message).toBe(`There is nothing at ${method} ${path}.`);
    expect(type).toBeUndefined();
  });
});

test('the error of an unknown model names the list of the models', async () => {
  const { message } = await asker.refusal('/chat/completions', {
    body: { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] },
  });
  expect(message).toBe('There is no bot "gpt-4o". GET /v1/models lists the bots of this key.');
});

describe('a request that starts a run counts once', () => {
  test('although its bot is in the body', async () => {
    const own = await app.tenant({ requestsPerMinute: 50, requestsPerDay: 50 });
    const { ask } = await createAsker(app, own.apiKey);
    const model = await own.bot();
    const remaining = async () => {
      const request = { model, messages: [{ role: 'user', content: 'Hi' }] };
      const answer = await ask('/chat/completions', { body: request });
      return Number(answer.headers.get('x-ratelimit-remaining'));
    };
    const first = await remaining();
    expect(await remaining()).toBe(first - 1);
  });

  test('and uses a new deployment at once', async () => {
    const model = await tenant.bot('prompt "First."');
    const request = { model, messages: [{ role: 'user', content: 'Hi' }] };
    await asker.post('/chat/completions', request);
    await tenant.graphql(
      'mutation ($id: ID!, $source: String!) { deploy(botId: $id, input: { source: $source }) { status } }',
      {
        id: model,
        source: 'agentlang 5\nagent "T" {\n  description "T."\n  prompt "Second."\n}\n',
      },
    );
    await asker.post('/chat/completions', request);
    expect(app.upstream.requests.at(-1)?.body.messages[0]?.content).toContain('Second.');
  });
});
