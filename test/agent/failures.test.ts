import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent, startApp, type Tenant, type TestApp, testCipher } from '../helpers/app.ts';
import { createTestDeploy } from '../helpers/deploy.ts';
import { streamChat } from '../helpers/stream.ts';
import { type Script, startUpstream, type Upstream } from '../helpers/upstream.ts';

let app: TestApp;
let tenant: Tenant;
let own: Upstream;
/** The lines of the log. */
const logged: string[] = [];
beforeAll(async () => {
  own = await startUpstream();
  const log = pino({ level: 'warn' }, { write: (line) => void logged.push(line) });
  app = await startApp({ allowedHosts: [new URL(own.baseUrl).host], log });
  tenant = await app.tenant();
});
afterAll(() => own.close());

const SECRET = 'hunter2-hunter2';

const answers =
  (status: number, body: unknown): Script =>
  ({ response }) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(body));

/** Creates a bot whose model server is its own. */
const botOfOwnServer = async () => {
  const botId = await tenant.bot(null);
  await createTestDeploy({ prisma: app.prisma, cipher: testCipher })({
    action: 'DEPLOY',
    botId,
    environment: 'PRODUCTION',
    source: agent(`model "m" { base_url "${own.baseUrl}" api_key env.KEY }`),
    envVars: { KEY: 'sk-of-the-bot', SECRET },
    unsetEnvVars: [],
  });
  return botId;
};

/** Sends a message. @returns the response's text and the run's id. */
const chat = async (bot: string) => {
  const response = await tenant.chat(bot, { message: 'canary of the request' });
  return { text: await response.text(), id: response.headers.get('x-run-id') ?? '' };
};

const ERROR = 'query ($id: ID!) { run(id: $id) { error { code message detail } } }';
const ask = async (secret: string, query: string, id: string) => {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { id } }),
  });
  return response.json();
};
const detailOf = async (id: string) => (await ask(tenant.apiKey, ERROR, id)).data.run.error.detail;

describe('the reason of a failed model call', () => {
  test.each<[string, Script, string | null]>([
    [
      'the status and the message',
      answers(401, { error: { message: 'Wrong key.', param: null } }),
      'HTTP 401: Wrong key.',
    ],
    ['the status alone', answers(403, ''), 'HTTP 403'],
    [
      'the place and the message of FastAPI, without the input',
      answers(404, { detail: [{ loc: ['body', 'model'], msg: 'Unknown', input: 'canary' }] }),
      'HTTP 404: body.model: Unknown',
    ],
    [
      'the message of an error in the stream',
      ({ response }) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end('data: {"error":{"message":"No\\nroom","code":400}}\n\n');
      },
      'No room',
    ],
    ['nothing, after no answer', ({ response }) => void response.writeHead(200).end(), null],
  ])('is %s', async (_what, script, detail) => {
    app.upstream.script(script);
    const { text, id } = await chat(await tenant.bot());
    expect(await detailOf(id)).toBe(detail);
    expect(text).not.toMatch(/Wrong key|Unknown|No.room/);
  });

  test('is cut and redacted, also where it is cut', async () => {
    own.script(answers(400, { error: { message: `${'x'.repeat(495)}${SECRET} and more` } }));
    const { text, id } = await chat(await botOfOwnServer());
    expect(await detailOf(id)).toBe(`HTTP 400: ${'x'.repeat(495)}`);
    own.script(answers(400, { error: { message: `Neither sk-of-the-bot nor ${SECRET} is it.` } }));
    const other = await chat(await botOfOwnServer());
    expect(await detailOf(other.id)).toBe('HTTP 400: Neither [API key] nor [env.SECRET] is it.');
    const stored = await app.prisma.run.findMany({ where: { id: { in: [id, other.id] } } });
    expect(JSON.stringify([text, other.text, stored])).not.toMatch(/hunter2|sk-of/);
  });

  test('is in the log if the server is the operator’s own, and only then', async () => {
    const lineOf = (id: string) => logged.find((line) => line.includes(id));
    app.upstream.script(answers(402, { error: { message: 'No credit.' } }));
    const standard = await chat(await tenant.bot());
    expect(JSON.parse(lineOf(standard.id) ?? '')).toMatchObject({ detail: 'HTTP 402: No credit.' });
    own.script(answers(402, { error: { message: 'No credit.' } }));
    const other = await chat(await botOfOwnServer());
    expect(await detailOf(other.id)).toBe('HTTP 402: No credit.');
    expect(lineOf(other.id)).not.toContain('No credit');
  });

  test('is shown to a key with the scope RUNS, and to nobody else', async () => {
    app.upstream.script(answers(400, { error: { message: 'canary of the server' } }));
    const bot = await tenant.bot();
    const { text, id } = await chat(bot);
    expect(text).not.toContain('canary');
    const run = await fetch(`${app.url}/v1/bots/${bot}/runs/${id}`, { headers: tenant.headers });
    const events = await fetch(`${app.url}/v1/bots/${bot}/runs/${id}/events`, {
      headers: tenant.headers,
    });
    expect((await run.json()).error).toEqual({
      code: 'model_error',
      message: "The model's server answered 400.",
    });
    expect(await events.text()).not.toContain('canary of the server');
    const talker = await tenant.key({ scopes: ['CHAT'] });
    const cancel = 'mutation ($id: ID!) { cancelRun(id: $id) { error { detail } } }';
    const refused = await ask(talker, cancel, id);
    expect(refused.errors[0].extensions.code).toBe('INSUFFICIENT_SCOPE');
    expect(JSON.stringify(refused)).not.toContain('canary');
    expect(await detailOf(id)).toBe('HTTP 400: canary of the server');
  });
});

test('a visitor never sees the reason of a failed model call', async () => {
  app.upstream.script(answers(400, { error: { message: 'canary of the server' } }));
  const bot = await tenant.bot();
  const { data } = await tenant.graphql(
    `mutation { createSessionToken(input: { botId: "${bot}", sessionId: "s" }) { token } }`,
  );
  const { token } = data.createSessionToken;
  const chats = [
    `mutation { chat(botId: "${bot}", input: { message: "Hi" }) { runId } }`,
    `mutation { chat(botId: "${bot}", input: { message: "Hi" }) { run { error { detail } } } }`,
  ];
  for (const query of chats) {
    expect(JSON.stringify(await app.graphql(token, query))).not.toContain('canary');
  }
  const visitor = { ...tenant, headers: { authorization: `Bearer ${token}` } };
  const events = await streamChat(app, visitor, bot, { message: 'Hi' });
  expect(events.at(-1)).toMatchObject({ __typename: 'ChatFailed', code: 'MODEL_ERROR' });
  expect(JSON.stringify(events)).not.toContain('canary');
});

describe('a run', () => {
  test('has the facts that the model’s server counts, over all of its calls', async () => {
    const bot = await tenant.bot('tools time');
    let call = 0;
    app.upstream.script(({ response }) => {
      call += 1;
      const tool_calls = [{ id: 'x', function: { name: 'time_now', arguments: '{}' } }];
      const delta = call === 1 ? { tool_calls } : { content: 'Done.' };
      const usage = {
        prompt_tokens: 10,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 4 },
        ...(call === 2 && { completion_tokens_details: { reasoning_tokens: 3 } }),
      };
      const choice = { index: 0, delta, finish_reason: call === 1 ? 'tool_calls' : 'length' };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify({ choices: [choice], usage })}\n\n`);
    });
    const { id } = await chat(bot);
    const run = await fetch(`${app.url}/v1/bots/${bot}/runs/${id}`, { headers: tenant.headers });
    const body = await run.json();
    expect(body).toMatchObject({
      finish_reason: 'length',
      cached_tokens: 8,
      reasoning_tokens: 3,
      tokens_used: 30,
    });
    const query = 'query ($id: ID!) { run(id: $id) { finishReason cachedTokens reasoningTokens } }';
    expect((await ask(tenant.apiKey, query, id)).data.run).toEqual({
      finishReason: 'length',
      cachedTokens: 8,
      reasoningTokens: 3,
    });
    const [root] = body.trace.spans;
    expect(root.attributes).toMatchObject({
      'gen_ai.usage.cache_read.input_tokens': 8,
      'gen_ai.usage.reasoning.output_tokens': 3,
    });
    const last = body.trace.spans.findLast(({ name }: { name: string }) => name.startsWith('chat'));
    expect(last.attributes).toMatchObject({
      'gen_ai.response.finish_reasons': ['length'],
      'gen_ai.usage.cache_read.input_tokens': 4,
      'gen_ai.usage.reasoning.output_tokens': 3,
    });
  });

  test('has no such facts if the server counts nothing', async () => {
    app.upstream.script(({ say, end }) => {
      say('Hi');
      end();
    });
    const { id } = await chat(await tenant.bot());
    expect(await app.prisma.run.findUniqueOrThrow({ where: { id } })).toMatchObject({
      finishReason: 'stop',
      cachedTokens: null,
      reasoningTokens: null,
      errorDetail: null,
    });
  });

  test('that reached max_tokens while it reasoned fails, with its tokens and its reason', async () => {
    app.upstream.script(({ response }) => {
      const usage = {
        prompt_tokens: 10,
        completion_tokens: 64,
        completion_tokens_details: { reasoning_tokens: 64 },
      };
      const choice = { index: 0, delta: { reasoning: 'Hm.' }, finish_reason: 'length' };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify({ choices: [choice], usage })}\n\n`);
    });
    const { text, id } = await chat(await tenant.bot());
    expect(JSON.parse(text).error).toMatchObject({
      code: 'model_error',
      message: 'The model reached max_tokens before it answered. It used 64 tokens for reasoning.',
    });
    expect(await app.prisma.run.findUniqueOrThrow({ where: { id } })).toMatchObject({
      status: 'FAILED',
      finishReason: 'length',
      completionTokens: 64,
      tokensEstimated: false,
    });
  });

  test.each([
    ['an error object', { error: { message: 'Overloaded', code: 503 } }, 'Overloaded'],
    ['the finish reason error', { choices: [{ delta: {}, finish_reason: 'error' }] }, null],
  ])('that ends with %s fails with the text that was emitted', async (_what, last, detail) => {
    app.upstream.script(({ say, response }) => {
      say('Half');
      response.end(`data: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`);
    });
    const { id } = await chat(await tenant.bot());
    expect(await app.prisma.run.findUniqueOrThrow({ where: { id } })).toMatchObject({
      status: 'FAILED',
      errorCode: 'model_error',
      errorDetail: detail,
      response: 'Half',
    });
  });

  test('whose answer was filtered fails with its own code', async () => {
    app.upstream.script(({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('data: {"choices":[{"delta":{},"finish_reason":"content_filter"}]}\n\n');
    });
    const { text, id } = await chat(await tenant.bot());
    expect(JSON.parse(text).error).toMatchObject({ code: 'content_filtered' });
    const { error } = (await ask(tenant.apiKey, ERROR, id)).data.run;
    expect(error).toMatchObject({ code: 'CONTENT_FILTERED', detail: null });
    expect(await app.prisma.run.findUniqueOrThrow({ where: { id } })).toMatchObject({
      status: 'FAILED',
      errorCode: 'content_filtered',
      finishReason: 'content_filter',
    });
  });
});
