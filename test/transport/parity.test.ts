import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { frames } from '../helpers/stream.ts';
import { type Operation, type Results, WAYS } from '../helpers/transports.ts';
import { hello } from '../helpers/upstream.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  // All requests are in one rate-limit minute.
  const now = Date.now();
  app = await startApp({ clock: () => now });
  tenant = await app.tenant();
  bot = await tenant.bot();
});
beforeEach(() => app.upstream.script(hello));

/** Runs the same operation over every GraphQL transport. @returns the results by transport. */
const overEveryTransport = async (operation: (way: string) => Operation, key = tenant.apiKey) => {
  const received: Record<string, Results> = {};
  for (const [name, execute] of Object.entries(WAYS)) {
    received[name] = await execute(app, key, operation(name));
  }
  return received;
};

/** The results of all transports, which must be equal. */
const equalResults = <Result>(received: Record<string, Result>): Result => {
  const [first, ...others] = Object.values(received);
  if (first === undefined) throw new Error('There are no results.');
  for (const other of others) expect(other).toEqual(first);
  return first;
};

const rest = async (path: string, body?: object, headers = {}) =>
  fetch(`${app.url}/v1/bots/${bot}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      ...tenant.headers,
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });

/** The names of a run's spans with the names of their parents. */
const traceOf = async (sessionId: string) => {
  const { spans } = await app.prisma.run.findFirstOrThrow({ where: { botId: bot, sessionId } });
  const list = spans as { spanId: string; parentId: string | null; name: string }[];
  const nameOf = (id: string | null) => list.find(({ spanId }) => spanId === id)?.name ?? null;
  return list.map(({ name, parentId }) => [name, nameOf(parentId)]);
};

describe('a chat', () => {
  test('has the same reply and the same trace over every transport and REST', async () => {
    const received = await overEveryTransport((way) => ({
      query:
        'mutation ($bot: ID!, $input: ChatInput!) { chat(botId: $bot, input: $input) { response tokensUsed toolsCalled run { status kind channel } } }',
      variables: { bot, input: { message: 'Hi', sessionId: `chat-${way.replaceAll(' ', '-')}` } },
    }));
    const [result] = equalResults(received);
    const answer = await rest('/chat', { message: 'Hi' }, { 'x-session-id': 'chat-REST' });
    const { response, tokens_used, tools_called } = (await answer.json()) as Record<
      string,
      unknown
    >;
    expect(result).toEqual({
      data: {
        chat: {
          response,
          tokensUsed: tokens_used,
          toolsCalled: tools_called,
          run: { status: 'COMPLETED', kind: 'CHAT', channel: 'API' },
        },
      },
    });
    const traces: Record<string, unknown> = {};
    for (const way of [...Object.keys(WAYS), 'REST']) {
      traces[way] = await traceOf(`chat-${way.replaceAll(' ', '-')}`);
    }
    expect(equalResults(traces)).not.toEqual([]);
  });

  test('streams the same events over every transport, and the same text over REST', async () => {
    const received = await overEveryTransport(() => ({
      query: `subscription { chat(botId: "${bot}", input: { message: "Hi" }) { __typename ... on TextDelta { seq delta } ... on ChatDone { seq tokensUsed toolsCalled } } }`,
    }));
    const results = equalResults(received) as {
      data: { chat: { __typename: string; delta?: string } };
    }[];
    expect(results.at(-1)?.data.chat.__typename).toBe('ChatDone');
    const answer = await rest(
      '/chat',
      { message: 'Hi', stream: true },
      { accept: 'text/event-stream' },
    );
    const deltas = ((await frames(answer)) as { delta: string }[]).map(({ delta }) => delta);
    const texts = results.flatMap(({ data }) => data.chat.delta ?? []);
    expect(deltas.join('')).toBe(texts.join(''));
  });
});

describe('an error', () => {
  test.each([
    [
      'of the input, with every problem',
      () =>
        `mutation { chat(botId: "${bot}", input: { message: "", sessionId: "a b" }) { runId } }`,
      'INVALID_REQUEST',
    ],
    ['of an unknown bot', () => '{ bot(id: "nobody") { id } }', 'BOT_NOT_FOUND'],
    ['of an unknown run', () => '{ run(id: "run_x") { id } }', 'RUN_NOT_FOUND'],
    ['of the document', () => '{ bot }', 'INVALID_REQUEST'],
    [
      'of an unknown deployment',
      () => `mutation { rollback(botId: "${bot}", deploymentId: "dep_x") { id } }`,
      'DEPLOYMENT_NOT_FOUND',
    ],
  ])('%s is the same over every transport', async (_what, query, code) => {
    const [result] = equalResults(await overEveryTransport(() => ({ query: query() })));
    expect(result?.errors?.[0]?.extensions.code).toBe(code);
  });

  test('of the input has the same details over REST', async () => {
    const received = await overEveryTransport(() => ({
      query: `mutation { execute(botId: "${bot}", input: { prompt: "" }) { id } }`,
    }));
    const [result] = equalResults(received);
    const { error } = (await (await rest('/execute', { prompt: '' })).json()) as {
      error: { code: string; details: { path: string; message: string }[] };
    };
    expect(result?.errors?.[0]?.extensions).toEqual({
      code: error.code.toUpperCase(),
      details: error.details.map(({ path, message }) => ({ path: `input.${path}`, message })),
    });
  });

  test('of the model has the same message over REST, and the run’s id', async () => {
    app.upstream.script(({ response }) => {
      response.writeHead(400).end('{}');
    });
    const received = await overEveryTransport(() => ({
      query: `mutation { execute(botId: "${bot}", input: { prompt: "Hi" }) { id } }`,
    }));
    const errors = Object.values(received).map(([result]) => result?.errors?.[0]);
    for (const error of errors) {
      expect(error?.extensions).toEqual({
        code: 'MODEL_ERROR',
        runId: expect.stringMatching(/^run_/),
      });
    }
    const answer = await rest('/execute', { prompt: 'Hi' });
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect(answer.headers.get('x-run-id')).toMatch(/^run_/);
    expect(new Set([error.message, ...errors.map((one) => one?.message)]).size).toBe(1);
    expect(error.code).toBe('model_error');
  });
});

describe('a rate limit', () => {
  test('is shared by all transports, and each returns when to retry', async () => {
    const limited = await app.tenant({ requestsPerMinute: 6, requestsPerDay: 100 });
    const query = '{ viewer { rateLimit { remainingDay } } }';
    const left: unknown[] = [];
    for (const execute of Object.values(WAYS)) {
      const [result] = await execute(app, limited.apiKey, { query });
      left.push(result?.data);
    }
    expect(left).toEqual(
      [99, 98, 97, 96, 95].map((remainingDay) => ({ viewer: { rateLimit: { remainingDay } } })),
    );
    const last = await fetch(`${app.url}/v1/bots/x/runs`, { headers: limited.headers });
    expect(last.headers.get('x-ratelimit-remaining')).toBe('0');
    for (const execute of Object.values(WAYS)) {
      const [result] = await execute(app, limited.apiKey, { query });
      expect(result?.errors?.[0]?.extensions).toEqual({
        code: 'RATE_LIMIT_EXCEEDED',
        retryAfter: expect.toSatisfy((seconds) => seconds >= 1 && seconds <= 60),
      });
    }
    const refused = await fetch(`${app.url}/v1/bots/x/runs`, { headers: limited.headers });
    expect(refused.status).toBe(429);
  });
});
