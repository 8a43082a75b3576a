import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { hello, replyInTwoParts } from '../helpers/upstream.ts';
import { type Answer, type Asker, createAsker, readEvents } from './asker.ts';

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
const messages = [{ role: 'user', content: 'Hi' }];
const bodyOf = (more = {}) => ({ model: bot, messages, stream: true, ...more });
const runOf = (id: string) => app.prisma.run.findUniqueOrThrow({ where: { id } });

/** Streams a completion. @returns the data of each chunk. */
const chunks = async (more = {}, headers = {}): Promise<Answer[]> =>
  (await asker.stream(PATH, bodyOf(more), headers)).map(({ data }) => data);

describe('a streamed completion', () => {
  test('has a chunk with the role, chunks with text, one with the reason of the end, and [DONE]', async () => {
    const sent = await chunks();
    const run = await runOf(sent[0].id);
    const facts = {
      id: run.id,
      object: 'chat.completion.chunk',
      created: Math.floor(run.createdAt.getTime() / 1_000),
      model: bot,
    };
    const chunk = (delta: object, finish_reason: string | null = null, more = {}) => ({
      ...facts,
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      ...more,
    });
    expect(sent).toEqual([
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hello' }),
      chunk({ content: ' ' }),
      chunk({ content: 'there.' }),
      chunk({}, 'stop', { system_fingerprint: run.deploymentId }),
      '[DONE]',
    ]);
  });

  test('has its usage in one more chunk if that is asked for', async () => {
    const sent = await chunks({ stream_options: { include_usage: true } });
    expect(sent.at(-1)).toBe('[DONE]');
    expect(sent.at(-2)).toMatchObject({
      choices: [],
      usage: {
        prompt_tokens: 12,
        completion_tokens: 3,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    });
    expect(sent.slice(0, -2).map(({ usage }) => usage)).toEqual(sent.slice(0, -2).map(() => null));
    const without = await chunks({ stream_options: { include_usage: false } });
    expect(without.filter((chunk) => chunk.usage !== undefined)).toEqual([]);
  });

  test('has the role and the end also for a reply without text', async () => {
    app.upstream.script(({ end }) => end());
    const sent = await chunks();
    expect(sent.map((chunk) => chunk.choices?.[0].delta)).toEqual([
      { role: 'assistant', content: '' },
      {},
      undefined,
    ]);
  });

  test('runs in a session as the JSON form', async () => {
    const headers = { 'x-session-id': 'stream-1' };
    await chunks({}, headers);
    const [first] = await chunks({}, headers);
    expect(await runOf(first.id)).toMatchObject({ kind: 'CHAT', sessionId: 'stream-1' });
    expect(app.upstream.requests.at(-1)?.body.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ]);
  });

  test('names its run in a header, and repeats the chunks for an idempotency key', async () => {
    const headers = { 'idempotency-key': 'stream-once' };
    const answer = await asker.ask(PATH, { body: bodyOf(), headers });
    const first = readEvents(await answer.text(), PATH, asker.contract);
    expect(answer.headers.get('x-run-id')).toBe(first[0]?.data.id);
    expect(answer.headers.get('x-ratelimit-limit')).toMatch(/^\d+$/);
    const again = await asker.ask(PATH, { body: bodyOf(), headers });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const text = (events: typeof first) =>
      events.map(({ data }) => data.choices?.[0]?.delta.content ?? '').join('');
    const repeated = readEvents(await again.text(), PATH, asker.contract);
    expect([repeated.at(-1)?.data, text(repeated)]).toEqual(['[DONE]', text(first)]);
  });

  test('answers an error before the first text as an ordinary response', async () => {
    app.upstream.script(({ response }) => void response.writeHead(400).end());
    expect(await asker.refusal(PATH, { body: bodyOf() })).toMatchObject({
      status: 500,
      code: 'model_error',
      type: 'api_error',
      param: null,
    });
  });

  test('ends with an error and without [DONE] if the run fails in the middle', async () => {
    app.upstream.script(({ say, cut }) => {
      say('Well');
      cut();
    });
    const sent = await chunks({ stream_options: { include_usage: true } });
    expect(sent.at(-1)).toEqual({
      error: {
        code: 'model_error',
        message: expect.stringMatching(/\S/),
        type: 'api_error',
        param: null,
        request_id: expect.stringMatching(/^req_/),
      },
    });
    expect(sent).not.toContain('[DONE]');
    expect(sent[1].choices[0].delta).toEqual({ content: 'Well' });
  });

  test('cancels the run if the client disconnects', async () => {
    const started = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, closed }) => {
      say('Well');
      started.resolve();
      await closed;
      gone.resolve();
    });
    const client = new AbortController();
    const answer = await fetch(`${app.url}/v1${PATH}`, {
      method: 'POST',
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf()),
      signal: client.signal,
    });
    await started.promise;
    await answer.body?.getReader().read();
    client.abort();
    await gone.promise;
    const id = answer.headers.get('x-run-id') ?? '';
    await vi.waitFor(async () => expect((await runOf(id)).status).toBe('CANCELLED'), 20_000);
  });

  test('continues without its client with X-On-Disconnect', async () => {
    const finish = replyInTwoParts(app.upstream);
    const client = new AbortController();
    const answer = await fetch(`${app.url}/v1${PATH}`, {
      method: 'POST',
      headers: {
        ...tenant.headers,
        'content-type': 'application/json',
        'x-on-disconnect': 'continue',
      },
      body: JSON.stringify(bodyOf()),
      signal: client.signal,
    });
    await answer.body?.getReader().read();
    client.abort();
    await vi.waitFor(() => expect(app.openResponses()).toBe(0), 20_000);
    finish();
    const id = answer.headers.get('x-run-id') ?? '';
    await vi.waitFor(async () => expect((await runOf(id)).status).toBe('COMPLETED'), 20_000);
  });

  test('is a failure of the stream if somebody cancels the run', async () => {
    replyInTwoParts(app.upstream);
    const answer = await asker.ask(PATH, { body: bodyOf() });
    const id = answer.headers.get('x-run-id') ?? '';
    await tenant.graphql(`mutation { cancelRun(id: "${id}") { status } }`);
    const sent = readEvents(await answer.text(), PATH, asker.contract).map(({ data }) => data);
    expect(sent.at(-1).error).toMatchObject({
      type: 'api_error',
      message: 'The run was cancelled.',
    });
  });

  test('shows no calls of tools, also of one that waits for approval', async () => {
    const model = await tenant.bot(`tools shop {
      capability refund "Refunds an order." {
        input { order_id string }
        approval "A refund is paid out at once."
        post "https://shop.example/refunds"
      }
    }`);
    app.upstream.script(({ request, call, say, end }) => {
      if (request.body.messages.at(-1)?.role !== 'tool') {
        say('One moment. ');
        return call(['shop_refund', { order_id: 'A-1' }]);
      }
      say('A person must approve that.');
      return end();
    });
    const sent = await chunks({ model });
    const deltas = sent.map((chunk) => chunk.choices?.[0].delta).filter(Boolean);
    expect(deltas).toEqual([
      { role: 'assistant', content: '' },
      { content: 'One moment. ' },
      { content: 'A person must approve that.' },
      {},
    ]);
    expect(await app.prisma.approval.count({ where: { runId: sent[0].id } })).toBe(1);
  });
});
