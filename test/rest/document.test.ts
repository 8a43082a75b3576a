import { beforeAll, describe, expect, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { assertLimits, readError } from '../helpers/documented.ts';
import { frames } from '../helpers/stream.ts';

let now = Date.UTC(2026, 10, 20, 12);
let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp({ clock: () => now });
  tenant = await app.tenant();
  bot = await tenant.bot();
});

type Options = { method?: string; body?: object; headers?: Record<string, string>; key?: string };

/** Sends a request to a path of a bot, as the document writes it. */
const ask = (path: string, { method, body, headers, key = tenant.apiKey }: Options = {}) =>
  fetch(`${app.url}/v1/bots/${path}`, {
    method: method ?? (body ? 'POST' : 'GET'),
    headers: {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body && JSON.stringify(body),
  });

// biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of its response
const read = async (answer: Response): Promise<any> => {
  expect(answer.status).toBe(200);
  assertLimits(answer.headers);
  return answer.json();
};

const chat = async (options: Options & { of?: string } = {}) =>
  read(await ask(`${options.of ?? bot}/chat`, { body: { message: 'Hi' }, ...options }));
const deploy = async (of: string, body: object) => read(await ask(`${of}/deploy`, { body }));
const as = (user: string) => ({ headers: { 'x-session-id': user } });

/** The messages of the last model request. */
const lastMessages = () => app.upstream.requests.at(-1)?.body.messages ?? [];
const prompt = () => lastMessages()[0]?.content;

const errorOf = async (answer: Response) => {
  const { status, headers } = answer;
  return { status, ...readError({ status, headers, body: await answer.text() }) };
};

describe('What the service does', () => {
  test('Chat: a message is sent to a bot and a reply comes back', async () => {
    expect((await chat()).response).toBe('Hello there.');
    expect(lastMessages().at(-1)).toEqual({ role: 'user', content: 'Hi' });
  });

  test('Conversation history and persistent memory are scoped by a session identifier', async () => {
    await chat({ body: { message: 'I am Ada.' }, ...as('ada') });
    const kept = `mutation { setMemory(botId: "${bot}", sessionId: "ada", name: "plan", value: "gold") { id } }`;
    expect((await tenant.graphql(kept)).errors).toBeUndefined();
    await chat(as('ada'));
    expect([lastMessages().length, prompt()?.includes('gold')]).toEqual([4, true]);
    await chat(as('bob'));
    expect([lastMessages().length, prompt()?.includes('gold')]).toEqual([2, false]);
  });

  test('Execute: a bot is run with a prompt without session context', async () => {
    await chat(as('eve'));
    const answer = await ask(`${bot}/execute`, { body: { prompt: 'Do it' }, ...as('eve') });
    expect(await read(answer)).toEqual({
      response: 'Hello there.',
      run_id: expect.stringMatching(/^run_/),
      latency_ms: expect.any(Number),
      tokens_used: 15,
      tools_called: [],
    });
    expect(lastMessages().map(({ role }) => role)).toEqual(['system', 'user']);
  });

  test('Deploy: all connected channels use the new definition immediately', async () => {
    const own = await tenant.bot('prompt "Old."\n channel web');
    await chat({ of: own });
    expect(prompt()).toBe('Old.');
    const reply = await deploy(own, { agentlang: agent('prompt "New."\n channel web') });
    expect(reply).toMatchObject({ status: 'deployed', channels: ['web'] });
    await chat({ of: own });
    expect(prompt()).toBe('New.');
  });

  test('Every run has a `run_id` that can be used to look up its trace', async () => {
    const { run_id } = await chat();
    const run = await read(await ask(`${bot}/runs/${run_id}`));
    expect(run.trace.spans.length).toBeGreaterThan(0);
  });

  test('Chat processing order: history, memory, `context`, model', async () => {
    const { run_id } = await chat({ body: { message: 'Hi', context: { a: 1 } }, ...as('order') });
    const { trace } = await read(await ask(`${bot}/runs/${run_id}`));
    const [run, ...spans] = trace.spans;
    const steps = spans.filter(({ parent_id }: { parent_id: string }) => parent_id === run.span_id);
    expect(steps.map(({ name }: { name: string }) => name)).toEqual([
      'load_history',
      'inject_memory',
      'merge_context',
      'send_to_model',
    ]);
  });

  test('A caller may override or extend what the agent knows by passing `context`', async () => {
    const own = await tenant.bot('prompt "The plan is {{ context.plan }}."');
    await chat({ of: own, body: { message: 'Hi', context: { plan: 'pro', more: 'known' } } });
    expect(prompt()).toContain('The plan is pro.');
    expect(prompt()).toContain('"more":"known"');
  });

  test('`env.VARIABLE_NAME`: secrets do not appear in deployment logs or version history', async () => {
    const own = await tenant.bot(null);
    const source = agent('channel telegram { token env.TELEGRAM_TOKEN }');
    const secret = 'canary-of-the-variables';
    const reply = await deploy(own, { agentlang: source, env_vars: { TELEGRAM_TOKEN: secret } });
    expect(reply.status).toBe('deployed');
    const listed = await read(await ask(`${own}/deployments`));
    expect(JSON.stringify([reply, listed])).not.toContain(secret);
  });
});

describe('Resources and their fields', () => {
  test('Chat response body: exactly its fields', async () => {
    expect(await chat(as('fields'))).toEqual({
      response: 'Hello there.',
      session_id: 'fields',
      run_id: expect.stringMatching(/^run_/),
      latency_ms: expect.any(Number),
      tokens_used: 15,
      tools_called: [],
    });
  });

  test('`tools_called`: names of the tool capabilities invoked, as `<group>.<capability>`', async () => {
    const own = await tenant.bot('memory { name "The name" }');
    app.upstream.script(({ request, call, say, end }) => {
      if (request.body.messages.at(-1)?.role === 'tool') {
        say('Hello there.');
        end();
      } else call(['memory_save', { name: 'name', value: 'Ada' }]);
    });
    expect((await chat({ of: own })).tools_called).toEqual(['memory.save']);
    app.upstream.script(({ say, end }) => {
      for (const text of ['Hello', ' ', 'there.']) say(text);
      end();
    });
  });

  test('`stream`: default `false`', async () => {
    const answer = await ask(`${bot}/chat`, {
      body: { message: 'Hi' },
      headers: { accept: 'text/event-stream' },
    });
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  test('Deploy response body: exactly its fields', async () => {
    const own = await tenant.bot(null);
    const body = { agentlang: agent('channel web'), message: 'First', environment: 'production' };
    const reply = await deploy(own, body);
    expect(reply).toEqual({
      deployment_id: expect.stringMatching(/^dep_/),
      bot_id: own,
      status: 'deployed',
      deployed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      ended_at: reply.deployed_at,
      channels: ['web'],
      parse_errors: [],
      warnings: [],
    });
  });

  test('`environment`: `production` or `staging`, default `production`', async () => {
    const own = await tenant.bot(null);
    await deploy(own, { agentlang: agent('prompt "On stage."'), environment: 'staging' });
    const early = await errorOf(await ask(`${own}/chat`, { body: { message: 'Hi' } }));
    expect(early.code).toBe('bot_not_deployed');
    await deploy(own, { agentlang: agent('prompt "In production."') });
    await chat({ of: own });
    expect(prompt()).toBe('In production.');
    await chat({ of: own, body: { message: 'Hi', environment: 'staging' } });
    expect(prompt()).toBe('On stage.');
  });
});

describe('States and transitions', () => {
  test('`failed`: the deployment failed; `parse_errors` carries the reasons', async () => {
    const reply = await deploy(bot, { agentlang: 'agentlang 5\nagent {' });
    expect(reply).toMatchObject({ status: 'failed', channels: [] });
    expect(reply.parse_errors[0]).toMatch(/^\d+:\d+ /);
    expect((await chat()).response).toBe('Hello there.');
  });
});

describe('Endpoints', () => {
  test('Streaming is enabled by `stream: true` together with `Accept: text/event-stream`', async () => {
    const body = { message: 'Hi', stream: true };
    const types = [{ accept: 'application/json' }, { accept: 'text/event-stream' }].map(
      async (headers) => {
        const answer = await ask(`${bot}/chat`, { body, headers });
        await answer.text();
        return answer.headers.get('content-type');
      },
    );
    expect(await Promise.all(types)).toEqual([
      'application/json; charset=utf-8',
      'text/event-stream',
    ]);
  });

  test('When `X-Session-ID` is given, the reply’s `session_id` is the session used', async () => {
    expect((await chat(as('user-42'))).session_id).toBe('user-42');
  });

  test('`/v1/bots/:id/chat/stream` with query parameter `session_id`: the reply is SSE frames', async () => {
    for (const options of [{}, { body: { message: 'Hi' } }]) {
      const query = `session_id=by-query${'body' in options ? '' : '&message=Hi'}`;
      const answer = await ask(`${bot}/chat/stream?${query}`, options);
      const received = await frames(answer);
      expect(received.at(-1)).toMatchObject({ event: 'done' });
      const run = await read(await ask(`${bot}/runs/${answer.headers.get('x-run-id')}`));
      expect(run.session_id).toBe('by-query');
    }
  });

  test('GET /v1/bots/:id/deployments: lists recent deployments of the bot', async () => {
    const own = await tenant.bot();
    const { deployment_id } = await deploy(own, { agentlang: agent(), message: 'Newest' });
    const { deployments } = await read(await ask(`${own}/deployments`));
    expect(deployments).toHaveLength(2);
    expect(deployments[0]).toMatchObject({ deployment_id, message: 'Newest', active: true });
  });

  test('POST …/rollback: rolls the bot back to the given earlier deployment, with `Authorization` alone', async () => {
    const own = await tenant.bot(null);
    const { deployment_id } = await deploy(own, { agentlang: agent('prompt "First."') });
    await deploy(own, { agentlang: agent('prompt "Second."') });
    const path = `${own}/deployments/${deployment_id}/rollback`;
    const reply = await read(await ask(path, { method: 'POST' }));
    expect(reply).toMatchObject({ status: 'deployed', rolled_back_to: deployment_id });
    await chat({ of: own });
    expect(prompt()).toBe('First.');
  });

  test('Rolling back by deploying the earlier source again is also stated to work', async () => {
    const own = await tenant.bot(null);
    for (const text of ['First.', 'Second.', 'First.']) {
      await deploy(own, { agentlang: agent(`prompt "${text}"`) });
    }
    await chat({ of: own });
    expect(prompt()).toBe('First.');
  });

  test('GET /v1/bots/:id/runs: filterable by user, status, date, channel; the items carry traces', async () => {
    const own = await tenant.bot();
    const { run_id } = await chat({ of: own, ...as('ada') });
    await chat({ of: own, ...as('bob') });
    const [ofAda] = (await read(await ask(`${own}/runs?user=ada`))).runs;
    const day = ofAda.created_at.slice(0, 10);
    const query = `user=ada&status=completed&date=${day}&channel=api`;
    const { runs } = await read(await ask(`${own}/runs?${query}`));
    expect(runs.map((run: { run_id: string }) => run.run_id)).toEqual([run_id]);
    expect(runs[0].trace.spans.length).toBeGreaterThan(0);
    for (const other of ['status=failed', 'date=2020-01-01', 'channel=web', 'user=eve']) {
      expect((await read(await ask(`${own}/runs?${other}`))).runs).toEqual([]);
    }
  });
});

describe('Authentication', () => {
  test('A missing or invalid key gives 401', async () => {
    expect(await errorOf(await ask(`${bot}/runs`, { key: '' }))).toMatchObject({ status: 401 });
    const invalid = await errorOf(await ask(`${bot}/runs`, { key: makeApiKey() }));
    expect(invalid).toMatchObject({ status: 401, code: 'invalid_api_key' });
  });

  test('A key without access to the addressed bot gives 403', async () => {
    const stranger = await app.tenant();
    expect(await errorOf(await ask(`${bot}/runs`, { key: stranger.apiKey }))).toMatchObject({
      status: 403,
    });
  });

  test('Keys must be used only from server or backend code: no page may send one', async () => {
    const headers = { origin: 'https://example.com', 'access-control-request-method': 'POST' };
    const answer = await ask(`${bot}/chat`, { method: 'OPTIONS', headers });
    expect(answer.status).toBe(404);
    const named = [...answer.headers.keys()].filter((name) => name.startsWith('access-control'));
    expect(named).toEqual([]);
  });
});

describe('Events', () => {
  test('the fragments concatenated in order form the reply; `done` is the last frame', async () => {
    const answer = await ask(`${bot}/chat`, {
      body: { message: 'Hi', stream: true },
      headers: { accept: 'text/event-stream' },
    });
    const all = (await frames(answer)) as { delta?: string }[];
    expect(all.map(({ delta = '' }) => delta).join('')).toBe('Hello there.');
    expect(all.filter((frame) => 'event' in frame)).toEqual([
      {
        event: 'done',
        run_id: answer.headers.get('x-run-id'),
        latency_ms: expect.any(Number),
      },
    ]);
    expect(all.at(-1)).toHaveProperty('event', 'done');
  });
});

describe('Errors and limits', () => {
  test('400: missing required field or malformed JSON', async () => {
    expect(await errorOf(await ask(`${bot}/chat`, { body: {} }))).toMatchObject({ status: 400 });
    const broken = await fetch(`${app.url}/v1/bots/${bot}/chat`, {
      method: 'POST',
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      body: '{"message"',
    });
    expect(await errorOf(broken)).toMatchObject({ status: 400, code: 'invalid_json' });
  });

  test('404: the bot id does not exist', async () => {
    expect(await errorOf(await ask('no-such-bot/runs'))).toMatchObject({ status: 404 });
  });

  test.each([
    ['FREE', 10],
    ['PRO', 60],
    ['BUSINESS', 300],
  ] as const)('%s: %i requests per minute, and the next is 429', async (plan, perMinute) => {
    const { apiKey: key } = await app.tenant({ plan });
    const answers = await Promise.all(
      Array.from({ length: perMinute + 5 }, () => ask('no-such-bot/runs', { key })),
    );
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(perMinute);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(5);
    const [first] = refused;
    expect(first && (await errorOf(first))).toMatchObject({
      code: 'rate_limit_exceeded',
      retry_after: expect.any(Number),
    });
    const { headers } = answers[0] ?? {};
    expect(headers?.get('x-ratelimit-limit')).toBe(String(perMinute));
    const remaining = answers.map((answer) => Number(answer.headers.get('x-ratelimit-remaining')));
    expect(Math.max(...remaining)).toBe(perMinute - 1);
    expect(Number(headers?.get('x-ratelimit-reset'))).toBe(Math.floor(now / 60_000) * 60 + 60);
  });

  test('FREE: 1,000 requests per day, and the next is 429 in any minute', async () => {
    const { apiKey: key } = await app.tenant({ plan: 'FREE' });
    const minute = () =>
      Promise.all(Array.from({ length: 10 }, () => ask('no-such-bot/runs', { key })));
    for (let sent = 0; sent < 1_000; sent += 10) {
      now += 60_000;
      expect((await minute()).map(({ status }) => status)).not.toContain(429);
    }
    now += 60_000;
    const refused = await errorOf(await ask('no-such-bot/runs', { key }));
    const midnight = Date.UTC(2026, 10, 21);
    expect(refused).toMatchObject({ status: 429, retry_after: (midnight - now) / 1_000 });
  });
});

describe('Versioning', () => {
  test('The API version is the path prefix `/v1`', async () => {
    expect((await ask(`${bot}/runs`)).status).toBe(200);
    const other = await fetch(`${app.url}/v2/bots/${bot}/runs`, tenant);
    expect(other.status).toBe(404);
  });

  test('The agent definition language accepted by deploy is version 5', async () => {
    const source = agent();
    expect((await deploy(bot, { agentlang: source })).status).toBe('deployed');
    const older = source.replace('agentlang 5', 'agentlang 4');
    expect((await deploy(bot, { agentlang: older })).status).toBe('failed');
  });
});
