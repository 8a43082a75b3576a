import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { frames } from '../helpers/stream.ts';
import { type Operation, type Results, WAYS } from '../helpers/transports.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  // All in one minute, so that none of it is counted in another.
  const now = Date.now();
  app = await startApp({ clock: () => now });
  tenant = await app.tenant();
  bot = await tenant.bot();
});

/** The same by every GraphQL transport. @returns what each told, by its name. */
const byEveryWay = async (operation: (way: string) => Operation, key = tenant.apiKey) => {
  const told: Record<string, Results> = {};
  for (const [name, ask] of Object.entries(WAYS)) {
    told[name] = await ask(app, key, operation(name));
  }
  return told;
};

/** What all transports told, which is the same. */
const agreed = <Told>(told: Record<string, Told>): Told => {
  const [first, ...others] = Object.values(told);
  if (first === undefined) throw new Error('Nobody told anything.');
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

/** The names of a run's spans, as parts of each other. */
const traceOf = async (sessionId: string) => {
  const { spans } = await app.prisma.run.findFirstOrThrow({ where: { botId: bot, sessionId } });
  const list = spans as { spanId: string; parentId: string | null; name: string }[];
  const nameOf = (id: string | null) => list.find(({ spanId }) => spanId === id)?.name ?? null;
  return list.map(({ name, parentId }) => [name, nameOf(parentId)]);
};

describe('a chat', () => {
  test('says the same and leaves the same trace, by every way and over REST', async () => {
    const told = await byEveryWay((way) => ({
      query:
        'mutation ($bot: ID!, $input: ChatInput!) { chat(botId: $bot, input: $input) { response tokensUsed toolsCalled run { status kind channel } } }',
      variables: { bot, input: { message: 'Hi', sessionId: `chat-${way.replaceAll(' ', '-')}` } },
    }));
    const [result] = agreed(told);
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
    expect(agreed(traces)).not.toEqual([]);
  });

  test('streams the same events by every way, and their text over REST', async () => {
    const told = await byEveryWay(() => ({
      query: `subscription { chat(botId: "${bot}", input: { message: "Hi" }) { __typename ... on TextDelta { seq delta } ... on ChatDone { seq tokensUsed toolsCalled } } }`,
    }));
    const results = agreed(told) as { data: { chat: { __typename: string; delta?: string } } }[];
    expect(results.at(-1)?.data.chat.__typename).toBe('ChatDone');
    const answer = await rest(
      '/chat',
      { message: 'Hi', stream: true },
      { accept: 'text/event-stream' },
    );
    const deltas = ((await frames(answer)) as { delta: string }[]).map(({ delta }) => delta);
    const said = results.flatMap(({ data }) => data.chat.delta ?? []);
    expect(deltas.join('')).toBe(said.join(''));
  });
});

describe('an error', () => {
  test.each([
    [
      'of the input, with all that is wrong',
      () =>
        `mutation { chat(botId: "${bot}", input: { message: "", sessionId: "a b" }) { runId } }`,
      'INVALID_REQUEST',
    ],
    ['of a bot that there is not', () => '{ bot(id: "nobody") { id } }', 'BOT_NOT_FOUND'],
    ['of a run that there is not', () => '{ run(id: "run_x") { id } }', 'RUN_NOT_FOUND'],
    ['of the document', () => '{ bot }', 'INVALID_REQUEST'],
    [
      'of a deployment that there is not',
      () => `mutation { rollback(botId: "${bot}", deploymentId: "dep_x") { id } }`,
      'DEPLOYMENT_NOT_FOUND',
    ],
  ])('%s is the same by every way', async (_what, query, code) => {
    const [result] = agreed(await byEveryWay(() => ({ query: query() })));
    expect(result?.errors?.[0]?.extensions.code).toBe(code);
  });

  test('of the input names what REST names', async () => {
    const told = await byEveryWay(() => ({
      query: `mutation { execute(botId: "${bot}", input: { prompt: "" }) { id } }`,
    }));
    const [result] = agreed(told);
    const { error } = (await (await rest('/execute', { prompt: '' })).json()) as {
      error: { code: string; details: { path: string; message: string }[] };
    };
    expect(result?.errors?.[0]?.extensions).toEqual({
      code: error.code.toUpperCase(),
      details: error.details.map(({ path, message }) => ({ path: `input.${path}`, message })),
    });
  });

  test('of the model says the same of its run', async () => {
    app.upstream.script(({ response }) => {
      response.writeHead(400).end('{}');
    });
    const told = await byEveryWay(() => ({
      query: `mutation { execute(botId: "${bot}", input: { prompt: "Hi" }) { id } }`,
    }));
    const errors = Object.values(told).map(([result]) => result?.errors?.[0]);
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

describe('a limit', () => {
  test('is one for all ways together, and tells all when to come back', async () => {
    const little = await app.tenant({ requestsPerMinute: 6, requestsPerDay: 100 });
    const query = '{ viewer { rateLimit { remainingDay } } }';
    const left: unknown[] = [];
    for (const ask of Object.values(WAYS)) {
      const [result] = await ask(app, little.apiKey, { query });
      left.push(result?.data);
    }
    expect(left).toEqual(
      [99, 98, 97, 96, 95].map((remainingDay) => ({ viewer: { rateLimit: { remainingDay } } })),
    );
    const last = await fetch(`${app.url}/v1/bots/x/runs`, { headers: little.headers });
    expect(last.headers.get('x-ratelimit-remaining')).toBe('0');
    for (const ask of Object.values(WAYS)) {
      const [result] = await ask(app, little.apiKey, { query });
      expect(result?.errors?.[0]?.extensions).toEqual({
        code: 'RATE_LIMIT_EXCEEDED',
        retryAfter: expect.toSatisfy((seconds) => seconds >= 1 && seconds <= 60),
      });
    }
    const refused = await fetch(`${app.url}/v1/bots/x/runs`, { headers: little.headers });
    expect(refused.status).toBe(429);
  });
});
