import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { hello, replyInTwoParts } from '../helpers/upstream.ts';
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

const PATH = '/responses';
const respond = (input: unknown, more = {}, headers = {}): Promise<Answer> =>
  asker.post(PATH, { model: bot, input, ...more }, headers);
const refusal = (more: object, headers = {}) =>
  asker.refusal(PATH, { body: { model: bot, input: 'Hi', ...more }, headers });
const read = async (id: string): Promise<Answer> => (await asker.ask(`${PATH}/${id}`)).json();
const runOf = (id: string) => app.prisma.run.findUniqueOrThrow({ where: { id } });

/** The messages of the last request to the model, after the system's. */
const sent = () =>
  (app.upstream.requests.at(-1)?.body.messages ?? [])
    .slice(1)
    .map(({ role, content }) => [role, content]);

describe('a response', () => {
  test('has the shape of OpenAI, and the ids of its run and session', async () => {
    const answer = await respond('Hi');
    const run = await runOf(answer.id);
    expect(run).toMatchObject({ kind: 'CHAT', input: 'Hi', sessionId: expect.any(String) });
    expect(answer).toEqual({
      id: run.id,
      object: 'response',
      created_at: Math.floor(run.createdAt.getTime() / 1_000),
      status: 'completed',
      model: bot,
      output: [
        {
          type: 'message',
          id: run.id.replace('run_', 'msg_'),
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hello there.', annotations: [], logprobs: [] }],
        },
      ],
      error: null,
      incomplete_details: null,
      conversation: { id: run.sessionId },
      previous_response_id: null,
      usage: {
        input_tokens: 12,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 3,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 15,
      },
      instructions: null,
      metadata: {},
      parallel_tool_calls: true,
      tool_choice: 'auto',
      tools: [],
      temperature: null,
      top_p: null,
    });
  });

  test('takes items: messages, calls and their results are the history', async () => {
    await respond([
      { role: 'user', content: 'First' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'One.' }] },
      { role: 'user', content: 'Look' },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'seen' },
      { role: 'assistant', content: 'I looked.' },
      { role: 'user', content: [{ type: 'input_text', text: 'Third' }] },
    ]);
    expect(sent()).toEqual([
      ['user', 'First'],
      ['assistant', 'One.'],
      ['user', 'Look'],
      ['assistant', null],
      ['tool', 'seen'],
      ['assistant', 'I looked.'],
      ['user', 'Third'],
    ]);
  });

  test('adds instructions, and items of the system, to the context', async () => {
    const items = [
      { role: 'developer', content: 'Be short.' },
      { role: 'user', content: 'Hi' },
    ];
    const { id } = await respond(items, { instructions: 'Be kind.', context: { plan: 'pro' } });
    expect((await runOf(id)).context).toEqual({
      plan: 'pro',
      instructions: ['Be kind.', 'Be short.'],
    });
  });

  test('fits the schema of text.format', async () => {
    app.upstream.script(({ say, end }) => {
      say('{"city":"Rome"}');
      end();
    });
    const schema = { type: 'object', properties: { city: { type: 'string' } } };
    const format = { type: 'json_schema', name: 'place', strict: true, schema };
    for (const one of [format, { type: 'json_object' }]) {
      const { id, output } = await respond('Where?', { text: { format: one } });
      expect(output[0].content[0].text).toBe('{"city":"Rome"}');
      expect((await runOf(id)).output).toEqual({ city: 'Rome' });
    }
    const { id } = await respond('Where?', { text: { format: { type: 'text' } } });
    expect((await runOf(id)).output).toBeNull();
  });

  test('ignores members that the definition decides', async () => {
    const { status } = await respond('Hi', {
      temperature: 2,
      top_p: 0.1,
      max_output_tokens: 3,
      max_tool_calls: 1,
      reasoning: { effort: 'high' },
      truncation: 'auto',
      include: ['reasoning.encrypted_content'],
      parallel_tool_calls: false,
      user: 'u-1',
      tools: [],
      tool_choice: 'none',
      prompt_cache_key: 'unknown',
      insructions: 'nearly a known name',
    });
    expect(status).toBe('completed');
  });

  test.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ])('is incomplete if the reply was cut: %s', async (finishReason, reason) => {
    app.upstream.script(({ say, response }) => {
      say('Half');
      response.end(
        `data: {"choices":[{"delta":{},"finish_reason":"${finishReason}"}]}\n\ndata: [DONE]\n\n`,
      );
    });
    const answer = await respond('Hi');
    const incomplete = {
      status: 'incomplete',
      incomplete_details: { reason },
      output: [{ status: 'incomplete', content: [{ text: 'Half' }] }],
    };
    expect(answer).toMatchObject(incomplete);
    expect(await read(answer.id)).toMatchObject(incomplete);
  });

  test('repeats with an idempotency key', async () => {
    const headers = { 'idempotency-key': 'response-1' };
    const first = await respond('Hi', {}, headers);
    expect((await respond('Hi', {}, headers)).id).toBe(first.id);
    expect(await refusal({ input: 'Ho' }, headers)).toMatchObject({ code: 'idempotency_conflict' });
  });
});

describe('a conversation', () => {
  test('continues from a previous response', async () => {
    const first = await respond('One');
    const second = await respond('Two', { previous_response_id: first.id });
    expect(second).toMatchObject({
      previous_response_id: first.id,
      conversation: first.conversation,
    });
    expect(sent()).toEqual([
      ['user', 'One'],
      ['assistant', 'Hello there.'],
      ['user', 'Two'],
    ]);
  });

  test('keeps the items that a response sent before its message', async () => {
    const items = [
      { role: 'user', content: 'Before' },
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: 'One' },
    ];
    const first = await respond(items);
    await respond('Two', { previous_response_id: first.id });
    expect(sent()).toEqual([
      ['user', 'Before'],
      ['assistant', 'Yes.'],
      ['user', 'One'],
      ['assistant', 'Hello there.'],
      ['user', 'Two'],
    ]);
  });

  test('is a session by its id, as a string, as an object, or in a header', async () => {
    await respond('One', { conversation: 'talk-1' });
    await respond('Two', { conversation: { id: 'talk-1' } });
    const { conversation } = await respond('Three', {}, { 'x-session-id': 'talk-1' });
    expect(conversation).toEqual({ id: 'talk-1' });
    expect(sent().map(([, content]) => content)).toEqual([
      'One',
      'Hello there.',
      'Two',
      'Hello there.',
      'Three',
    ]);
    expect(await refusal({ conversation: 'talk-1', previous_response_id: 'run_1' })).toMatchObject({
      code: 'invalid_request',
      param: 'previous_response_id',
    });
  });

  test('is not continued from a response of another bot, account or environment', async () => {
    const other = await tenant.bot();
    const { id } = await respond('One', { model: other });
    const stranger = await app.tenant();
    const foreign: Answer = await (await createAsker(app, stranger.apiKey)).post(PATH, {
      model: await stranger.bot(),
      input: 'One',
    });
    for (const previous_response_id of [id, foreign.id, 'run_none'])
      expect(await refusal({ previous_response_id })).toMatchObject({
        status: 404,
        code: 'run_not_found',
        type: 'not_found_error',
        param: 'previous_response_id',
      });
    const staged = await tenant.bot('', 'STAGING');
    const { id: ofStaging } = await respond('One', { model: `${staged}:staging` });
    expect(await refusal({ model: staged, previous_response_id: ofStaging })).toMatchObject({
      status: 400,
      param: 'previous_response_id',
      message: expect.stringContaining('belongs to another environment'),
    });
  });

  test('does not begin with store: false', async () => {
    const { id, conversation } = await respond('One', { store: false, metadata: { job: 'x' } });
    expect(conversation).toBeNull();
    expect(await runOf(id)).toMatchObject({ kind: 'EXECUTE', metadata: { job: 'x' } });
    expect(await refusal({ previous_response_id: id })).toMatchObject({
      status: 400,
      code: 'invalid_request',
      param: 'previous_response_id',
      message: expect.stringContaining('has no session that can be continued'),
    });
    for (const more of [{ previous_response_id: id }, { conversation: 'talk-2' }])
      expect(await refusal({ store: false, ...more })).toMatchObject({
        code: 'unsupported_parameter',
        param: Object.keys(more)[0],
      });
  });
});

describe('a stored response', () => {
  test('is read with its text, also by a key with the scope CHAT alone', async () => {
    const answer = await respond('Hi');
    expect(await read(answer.id)).toEqual(answer);
    const talker = await createAsker(app, await tenant.key({ scopes: ['CHAT'] }));
    expect(await (await talker.ask(`${PATH}/${answer.id}`)).json()).toEqual(answer);
  });

  test('is hidden from other accounts and from keys of other bots', async () => {
    const { id } = await respond('Hi');
    const missing = { status: 404, code: 'run_not_found', type: 'not_found_error' };
    for (const key of [(await app.tenant()).apiKey, await tenant.key({ botIds: [] })]) {
      const other = await createAsker(app, key);
      expect(await other.refusal(`${PATH}/${id}`)).toMatchObject(missing);
      expect(await other.refusal(`${PATH}/${id}?stream=true`)).toMatchObject(missing);
      for (const asked of [
        { method: 'DELETE', path: `${PATH}/${id}` },
        { method: 'POST', path: `${PATH}/${id}/cancel` },
      ])
        expect(await other.refusal(asked.path, asked)).toMatchObject(missing);
    }
    expect((await read(id)).status).toBe('completed');
  });

  test('has the error of a run that failed', async () => {
    app.upstream.script(({ response }) => void response.writeHead(400).end());
    const answer = await asker.ask(PATH, { body: { model: bot, input: 'Hi' } });
    expect(answer.status).toBe(500);
    const failed = await read(answer.headers.get('x-run-id') ?? '');
    expect(failed).toMatchObject({
      status: 'failed',
      output: [],
      error: { code: 'model_error', message: expect.stringMatching(/\S/) },
      usage: null,
    });
  });

  test('is deleted with its turn, if it is the last one', async () => {
    const first = await respond('One');
    const second = await respond('Two', { previous_response_id: first.id });
    const path = (id: string) => `${PATH}/${id}`;
    expect(await asker.refusal(path(first.id), { method: 'DELETE' })).toMatchObject({
      status: 400,
      code: 'not_last',
      type: 'invalid_request_error',
    });
    const answer = await asker.ask(path(second.id), { method: 'DELETE' });
    expect(await answer.json()).toEqual({ id: second.id, object: 'response', deleted: true });
    expect(await asker.refusal(path(second.id))).toMatchObject({ status: 404 });
    expect(await runOf(second.id)).toMatchObject({ input: '', response: null, events: null });
    await respond('Other', { previous_response_id: first.id });
    expect(sent()).toEqual([
      ['user', 'One'],
      ['assistant', 'Hello there.'],
      ['user', 'Other'],
    ]);
  });

  test('is deleted outside of conversations too', async () => {
    const { id } = await respond('One', { store: false });
    const answer = await asker.ask(`${PATH}/${id}`, { method: 'DELETE' });
    expect(answer.status).toBe(200);
    expect(await asker.refusal(`${PATH}/${id}`)).toMatchObject({ code: 'run_not_found' });
  });

  test('is deleted with the call that waits for approval', async () => {
    const model = await tenant.bot(`tools shop {
      capability refund "Refunds an order." {
        input { order_id string }
        approval "A refund is paid out at once."
        post "https://shop.example/refunds"
      }
    }`);
    app.upstream.script(({ request, call, say, end }) => {
      if (request.body.messages.at(-1)?.role !== 'tool')
        return call(['shop_refund', { order_id: 'A-1' }]);
      say('A person must approve that.');
      return end();
    });
    const { id, output } = await respond('Refund A-1.', { model });
    expect(output.map(({ type }: Answer) => type)).toEqual(['message']);
    expect(await app.prisma.approval.count({ where: { runId: id } })).toBe(1);
    expect((await asker.ask(`${PATH}/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect(await app.prisma.approval.count({ where: { runId: id } })).toBe(0);
  });
});

describe('a response in the background', () => {
  test('is queued, runs, and is read', async () => {
    const answer = await respond('Hi', { background: true });
    expect(['queued', 'in_progress']).toContain(answer.status);
    expect(answer).toMatchObject({ output: [], usage: null, conversation: null });
    await vi.waitFor(async () => expect((await read(answer.id)).status).toBe('completed'), {
      timeout: 60_000,
      interval: 100,
    });
    expect(await read(answer.id)).toMatchObject({
      model: bot,
      output: [{ content: [{ text: 'Hello there.' }] }],
      usage: { total_tokens: 15 },
    });
  });

  test('sends its history and its choice of tools', async () => {
    const items = [
      { role: 'user', content: 'Before' },
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: 'One' },
    ];
    const { id } = await respond(items, { background: true, tool_choice: 'none' });
    await vi.waitFor(async () => expect((await read(id)).status).toBe('completed'), {
      timeout: 60_000,
      interval: 100,
    });
    expect(sent()).toEqual([
      ['user', 'Before'],
      ['assistant', 'Yes.'],
      ['user', 'One'],
    ]);
  });

  test('has no stream and no conversation', async () => {
    for (const more of [
      { stream: true },
      { previous_response_id: 'run_1' },
      { conversation: 'talk-3' },
    ])
      expect(await refusal({ background: true, ...more })).toMatchObject({
        code: 'unsupported_parameter',
        param: Object.keys(more)[0],
      });
  });

  test('is cancelled, and keeps the text so far', async () => {
    const finish = replyInTwoParts(app.upstream);
    const { id } = await respond('Hi', { background: true });
    await vi.waitFor(async () => expect(app.upstream.openResponses()).toBe(1), 60_000);
    const { status }: Answer = await (
      await asker.ask(`${PATH}/${id}/cancel`, { method: 'POST' })
    ).json();
    expect(['in_progress', 'cancelled']).toContain(status);
    await vi.waitFor(async () => expect((await read(id)).status).toBe('cancelled'), 60_000);
    finish();
    const again = await asker.ask(`${PATH}/${id}/cancel`, { method: 'POST' });
    expect(await again.json()).toMatchObject({ status: 'cancelled' });
  });
});

describe('an invalid request names the member', () => {
  test.each<[what: string, more: object, param: string, code?: string]>([
    ['no input', { input: undefined }, 'input'],
    ['an empty input', { input: '' }, 'input.0.content'],
    ['an empty list', { input: [] }, 'input'],
    ['501 items', { input: Array.from({ length: 501 }, () => ({ role: 'user' })) }, 'input'],
    ['an item without a role', { input: [{ content: 'Hi' }] }, 'input.0.role'],
    ['an unknown item', { input: [{ type: 'reasoning' }] }, 'input.0.type'],
    [
      'an image',
      { input: [{ role: 'user', content: [{ type: 'input_image' }] }] },
      'input.0.content.0',
      'unsupported_content',
    ],
    ['tools of the client', { tools: [{ type: 'web_search' }] }, 'tools', 'unsupported_parameter'],
    ['a required tool', { tool_choice: 'required' }, 'tool_choice', 'unsupported_parameter'],
    ['an unknown format', { text: { format: { type: 'xml' } } }, 'text.format.type'],
    [
      'a schema of a list',
      { text: { format: { type: 'json_schema', schema: { type: 'array' } } } },
      'text.format.schema',
    ],
    ['a conversation that is a number', { conversation: 5 }, 'conversation'],
    ['a store that is a string', { store: 'no' }, 'store'],
  ])('%s', async (_what, more, param, code = 'invalid_request') => {
    expect(await refusal(more)).toMatchObject({
      status: 400,
      code,
      type: 'invalid_request_error',
      param,
    });
  });

  test('a query that is neither true nor a number', async () => {
    const { id } = await respond('Hi');
    for (const [query, param] of [
      ['stream=yes', 'stream'],
      ['starting_after=x', 'starting_after'],
    ])
      expect(await asker.refusal(`${PATH}/${id}?${query}`)).toMatchObject({ status: 400, param });
  });
});
