import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { hello } from '../helpers/upstream.ts';
import { type Answer, type Asker, createAsker } from './asker.ts';

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

beforeEach(() => app.upstream.script(hello));

const PATH = '/chat/completions';
const user = (content: unknown) => ({ role: 'user', content });
const complete = (messages: object[], more = {}, headers = {}): Promise<Answer> =>
  asker.post(PATH, { model: bot, messages, ...more }, headers);

/** The messages of the last request to the model. */
const sent = () => app.upstream.requests.at(-1)?.body.messages ?? [];
const runOf = (id: string) => app.prisma.run.findUniqueOrThrow({ where: { id } });

describe('a chat completion', () => {
  test('has the shape of OpenAI, and the ids of its run and deployment', async () => {
    app.upstream.script(({ say, end }) => {
      say('Hello there.');
      end({ prompt_tokens: 40, completion_tokens: 5 });
    });
    const answer = await complete([user('Hi')]);
    const run = await runOf(answer.id);
    expect(answer).toEqual({
      id: run.id,
      object: 'chat.completion',
      created: Math.floor(run.createdAt.getTime() / 1_000),
      model: bot,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello there.', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 40,
        completion_tokens: 5,
        total_tokens: 45,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
      system_fingerprint: run.deploymentId,
    });
    expect(run).toMatchObject({ kind: 'EXECUTE', channel: 'API', input: 'Hi', sessionId: null });
  });

  test.each(['length', 'content_filter'])(
    'counts cached and reasoning tokens, and says why the reply was cut: %s',
    async (reason) => {
      app.upstream.script(({ say, response }) => {
        say('Half');
        response.write(`data: {"choices":[{"delta":{},"finish_reason":"${reason}"}]}\n\n`);
        const usage = {
          prompt_tokens: 40,
          completion_tokens: 9,
          prompt_tokens_details: { cached_tokens: 30 },
          completion_tokens_details: { reasoning_tokens: 4 },
        };
        response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
      });
      expect(await complete([user('Hi')])).toMatchObject({
        choices: [{ finish_reason: reason }],
        usage: {
          prompt_tokens_details: { cached_tokens: 30 },
          completion_tokens_details: { reasoning_tokens: 4 },
        },
      });
    },
  );

  test('uses the staging deployment for BOT:staging', async () => {
    const staged = await tenant.bot('prompt "You are on stage."', 'STAGING');
    const model = `${staged}:staging`;
    expect(await complete([user('Hi')], { model })).toMatchObject({ model });
    expect(sent()[0]?.content).toContain('You are on stage.');
    const headers = { 'x-environment': 'staging' };
    expect(await complete([user('Hi')], { model: staged }, headers)).toMatchObject({
      model: staged,
    });
  });

  test('is stateless: the messages are the history, and no session is made', async () => {
    const sessions = await app.prisma.session.count({ where: { botId: bot } });
    const call = { id: 'call_9', type: 'function', function: { name: 'look', arguments: '{}' } };
    await complete([
      user('First'),
      { role: 'assistant', content: 'One.' },
      user('Second'),
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_9', content: 'seen' },
      { role: 'assistant', content: 'Two.' },
      user('Third'),
    ]);
    const [, ...rest] = sent();
    expect(rest).toMatchObject([
      { role: 'user', content: 'First' },
      { role: 'assistant', content: 'One.' },
      { role: 'user', content: 'Second' },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_9', content: 'seen' },
      { role: 'assistant', content: 'Two.' },
      { role: 'user', content: 'Third' },
    ]);
    expect(await app.prisma.session.count({ where: { botId: bot } })).toBe(sessions);
  });

  test('takes the earlier form of a tool call', async () => {
    await complete([
      user('Look'),
      { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
      { role: 'function', name: 'look', content: 'seen' },
      { role: 'assistant', content: 'I looked.' },
      user('And?'),
    ]);
    expect(sent().slice(1)).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ function: { name: 'look', arguments: '{}' } }] },
      { role: 'tool', content: 'seen' },
      { role: 'assistant', content: 'I looked.' },
      { role: 'user', content: 'And?' },
    ]);
  });

  test('shows its history in the prompt of the run', async () => {
    const { id } = await complete([
      user('First'),
      { role: 'assistant', content: 'One.' },
      user('Hi'),
    ]);
    const { data } = await tenant.graphql(
      `{ run(id: "${id}") { prompt { parts { role text } } } }`,
    );
    expect(data.run.prompt.parts.slice(-3)).toEqual([
      { role: 'USER', text: 'First' },
      { role: 'ASSISTANT', text: 'One.' },
      { role: 'USER', text: 'Hi' },
    ]);
  });

  test('joins the text parts of a message', async () => {
    await complete([
      user([
        { type: 'text', text: 'Hi' },
        { type: 'text', text: 'there' },
      ]),
    ]);
    expect(sent().at(-1)).toMatchObject({ role: 'user', content: 'Hi\nthere' });
  });

  test('adds messages of the system to the context, after the prompt of the definition', async () => {
    const { id } = await complete(
      [
        { role: 'system', content: 'Be kind.' },
        { role: 'developer', content: [{ type: 'text', text: 'Be short.' }] },
        user('Hi'),
      ],
      { context: { plan: 'pro' } },
    );
    const { context } = await runOf(id);
    expect(context).toEqual({ plan: 'pro', instructions: ['Be kind.', 'Be short.'] });
    const [system] = sent();
    expect(system?.content).toMatch(/^You are a test\..*Be kind\..*Be short\./s);
  });

  test('offers no tools with tool_choice "none", and the tools of the bot with "auto"', async () => {
    const withTools = await tenant.bot('memory { name }');
    const toolsFor = async (tool_choice: string) => {
      await complete([user('Hi')], { model: withTools, tool_choice }, { 'x-session-id': 's' });
      return app.upstream.requests.at(-1)?.body.tools?.length ?? 0;
    };
    expect(await toolsFor('auto')).toBeGreaterThan(0);
    expect(await toolsFor('none')).toBe(0);
  });

  test('asks for the schema of response_format, or for any object', async () => {
    const { upstream } = app;
    upstream.script(({ say, end }) => {
      say('{"city":"Rome"}');
      end();
    });
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    };
    const formats = [
      { type: 'json_schema', json_schema: { name: 'place', strict: true, schema } },
      { type: 'json_object' },
    ];
    for (const response_format of formats) {
      const { choices, id } = await complete([user('Where?')], { response_format });
      expect(choices[0].message.content).toBe('{"city":"Rome"}');
      expect((await runOf(id)).output).toEqual({ city: 'Rome' });
      expect(upstream.requests.at(-1)?.body.response_format).toBeDefined();
    }
    const { id } = await complete([user('Where?')], { response_format: { type: 'text' } });
    expect((await runOf(id)).output).toBeNull();
  });

  test('stores metadata with the run, and ignores members that the definition decides', async () => {
    const { id } = await complete([user('Hi')], {
      metadata: { job: 'nightly' },
      temperature: 2,
      top_p: 0.1,
      max_tokens: 3,
      max_completion_tokens: 3,
      stop: ['x'],
      seed: 1,
      user: 'u-1',
      store: true,
      reasoning_effort: 'high',
      presence_penalty: 1,
      frequency_penalty: 1,
      parallel_tool_calls: false,
      service_tier: 'auto',
      logit_bias: {},
      verbosity: 'low',
      chat_id: 'unknown to OpenAI',
      mesages: 'nearly a known name',
      n: 1,
      tools: [],
      functions: [],
      logprobs: false,
      modalities: ['text'],
      audio: null,
      prediction: null,
      stream_options: null,
    });
    const run = await runOf(id);
    expect(run.metadata).toEqual({ job: 'nightly' });
    const { temperature, max_tokens, reasoning_effort } = app.upstream.requests.at(-1)?.body ?? {};
    expect([temperature, max_tokens, reasoning_effort]).not.toEqual(
      expect.arrayContaining([2, 3, 'high']),
    );
  });

  test('names its run and its limits in the headers, and repeats with an idempotency key', async () => {
    const request = { body: { model: bot, messages: [user('Hi')] } };
    const headers = { 'idempotency-key': 'completion-1' };
    const first = await asker.ask(PATH, { ...request, headers });
    const again = await asker.ask(PATH, { ...request, headers });
    const runId = first.headers.get('x-run-id');
    expect(((await first.json()) as Answer).id).toBe(runId);
    expect(again.headers.get('x-run-id')).toBe(runId);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    for (const name of ['limit', 'remaining', 'reset'])
      expect(first.headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/);
    const other = { model: bot, messages: [user('Ho')] };
    expect(await asker.refusal(PATH, { body: other, headers })).toMatchObject({
      status: 400,
      code: 'idempotency_conflict',
    });
    const longer = { model: bot, messages: [user('Before'), user('Hi')] };
    expect(await asker.refusal(PATH, { body: longer, headers })).toMatchObject({
      code: 'idempotency_conflict',
    });
  });

  test('shows no calls of the tools that the bot has called', async () => {
    app.upstream.script(({ request, call, say, end }) => {
      if (request.body.messages.at(-1)?.role === 'tool') {
        say('Noted.');
        end();
      } else call(['memory_save', { name: 'name', value: 'Ada' }]);
    });
    const model = await tenant.bot('memory { name }');
    const { choices } = await complete([user('I am Ada')], { model }, { 'x-session-id': 'ada' });
    expect(choices).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: 'Noted.', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ]);
  });
});

describe('a completion in a session', () => {
  test('is a turn of a chat: only the last message is sent, after the history of the session', async () => {
    const headers = { 'x-session-id': 'user-1' };
    await complete([user('One')], {}, headers);
    const { id } = await complete(
      [user('Never said'), { role: 'assistant', content: 'Nor this.' }, user('Two')],
      {},
      headers,
    );
    expect(sent().slice(1)).toMatchObject([
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Hello there.' },
      { role: 'user', content: 'Two' },
    ]);
    expect(await runOf(id)).toMatchObject({ kind: 'CHAT', sessionId: 'user-1' });
  });

  test('is named by metadata.session_id too', async () => {
    const { id } = await complete([user('One')], { metadata: { session_id: 'user-2' } });
    expect(await runOf(id)).toMatchObject({ kind: 'CHAT', sessionId: 'user-2' });
  });

  test('may be named by both if they agree', async () => {
    const body = { model: bot, messages: [user('Hi')], metadata: { session_id: 'user-3' } };
    const headers = { 'x-session-id': 'user-3' };
    expect((await asker.ask(PATH, { body, headers })).status).toBe(200);
    const other = { 'x-session-id': 'user-4' };
    expect(await asker.refusal(PATH, { body, headers: other })).toMatchObject({
      status: 400,
      code: 'invalid_request',
      param: 'metadata.session_id',
    });
  });

  test('is refused unless the last message is of the user', async () => {
    const messages = [user('Hi'), { role: 'assistant', content: 'Hello' }];
    const headers = { 'x-session-id': 'user-5' };
    expect(await asker.refusal(PATH, { body: { model: bot, messages }, headers })).toMatchObject({
      status: 400,
      param: 'messages',
      message: expect.stringContaining('must end with a message of the user'),
    });
  });
});
