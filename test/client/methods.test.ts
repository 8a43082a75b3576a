import { beforeAll, describe, expect, test } from 'vitest';
import { DeployError, NotFoundError, Parley } from '../../src/client/index.ts';
import { agent, startApp, type TestApp } from '../helpers/app.ts';
import { hello } from '../helpers/upstream.ts';

let app: TestApp;
let parley: Parley;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  const tenant = await app.tenant();
  bot = await tenant.bot('prompt "Plan: {{ context.plan }}."');
  parley = new Parley({ apiKey: tenant.apiKey, baseUrl: app.url });
});

const textOf = async (stream: AsyncIterable<string>) => (await Array.fromAsync(stream)).join('');

describe('a chat', () => {
  test('resolves with the reply, and passes session and context on', async () => {
    const sessionId = 'Zoë-👋';
    const input = { message: 'Hello!', sessionId, context: { plan: 'pro' } };
    const reply = await parley.chat(bot, input);
    expect(reply).toEqual({
      response: 'Hello there.',
      sessionId,
      runId: expect.stringMatching(/^run_/),
      latencyMs: expect.any(Number),
      tokensUsed: 15,
      toolsCalled: [],
    });
    expect(app.upstream.requests.at(-1)?.body.messages[0]?.content).toContain('Plan: pro.');
  });

  test('gives the response and the rate limit with its data', async () => {
    const { data, response } = await parley.chat(bot, { message: 'Hi' }).withResponse();
    expect(response.headers.get('x-run-id')).toBe(data.runId);
    expect(parley.limits).toEqual({
      limit: 1_000_000,
      remaining: Number(response.headers.get('x-ratelimit-remaining')),
      reset: Number(response.headers.get('x-ratelimit-reset')),
    });
  });

  test('streams the reply in pieces, and then has all of it', async () => {
    const stream = parley.chatStream(bot, { message: 'Hello!', sessionId: 'user-2' });
    expect(await Array.fromAsync(stream)).toEqual(['Hello', ' ', 'there.']);
    const before = app.upstream.requests.length;
    const reply = await stream.finalReply();
    expect(reply).toMatchObject({ response: 'Hello there.', sessionId: 'user-2', tokensUsed: 15 });
    expect(reply.runId).toBe(stream.runId);
    expect(app.upstream.requests.length).toBe(before);
  });

  test('has its whole reply without a loop over its pieces', async () => {
    const stream = parley.chatStream(bot, { message: 'Hello!' });
    expect(await stream.finalReply()).toMatchObject({ response: 'Hello there.' });
    expect(() => stream[Symbol.asyncIterator]()).toThrow('once');
  });

  test('rejects at once in a busy session, if it asks for that', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    app.upstream.script(async ({ say, end }) => {
      say('First');
      await released;
      end();
    });
    const input = { message: 'Hi', sessionId: 'busy' };
    const stream = parley.chatStream(bot, input);
    for await (const _first of stream) {
      const second = parley.chat(bot, { ...input, onBusy: 'reject' });
      await expect(second).rejects.toMatchObject({ status: 400, code: 'session_busy' });
      release();
    }
    app.upstream.script(hello);
  });
});

describe('a prompt', () => {
  test('resolves with the reply, or streams it', async () => {
    const reply = await parley.execute(bot, { prompt: 'Hi', metadata: { some_key: 1 } });
    expect(reply).toMatchObject({ response: 'Hello there.', tokensUsed: 15 });
    expect((await parley.run(bot, reply.runId)).metadata).toEqual({ some_key: 1 });
    const stream = parley.executeStream(bot, { prompt: 'Hi' });
    expect(await textOf(stream)).toBe('Hello there.');
    expect(await stream.finalReply()).toMatchObject({ response: 'Hello there.' });
  });

  test('has structured output with the names of its schema', async () => {
    app.upstream.script(({ say, end }) => {
      say('{"city_name": "Oslo"}');
      end();
    });
    const outputSchema = { type: 'object', properties: { city_name: { type: 'string' } } };
    const input = { prompt: 'Where?', outputSchema };
    const background = await parley.execute(bot, { ...input, background: true });
    const replies = [await parley.execute(bot, input), await background.result()];
    for (const { output } of replies) expect(output).toEqual({ city_name: 'Oslo' });
    app.upstream.script(hello);
  });

  test('runs in the background, with its events and its result', async () => {
    const run = await parley.execute(bot, { prompt: 'Hi', background: true });
    expect(await run.result()).toEqual({
      response: 'Hello there.',
      runId: run.id,
      latencyMs: expect.any(Number),
      tokensUsed: 15,
      toolsCalled: [],
    });
    const events = await Array.fromAsync(run.events());
    expect(events.map(({ seq, type }) => [seq, type])).toEqual([
      [1, 'run_started'],
      [2, 'text'],
      [3, 'text'],
      [4, 'text'],
      [5, 'done'],
    ]);
    expect(await run.cancel()).toMatchObject({ runId: run.id, status: 'completed' });
  });
});

describe('runs', () => {
  test('are listed page after page, or one page at a time', async () => {
    const user = 'pages';
    for (const message of ['1', '2', '3']) await parley.chat(bot, { message, sessionId: user });
    const list = parley.runs(bot, { user, limit: 2, status: 'completed' });
    const inputs = (await Array.fromAsync(list)).map(({ input }) => input);
    expect(inputs).toEqual(['3', '2', '1']);
    const { data, nextCursor } = await list.page();
    expect(data.map(({ input }) => input)).toEqual(['3', '2']);
    const rest = await parley.runs(bot, { user, limit: 2, cursor: nextCursor ?? '' }).page();
    expect(rest.data.map(({ input }) => input)).toEqual(['1']);
    expect(rest.nextCursor).toBeNull();
  });

  test('have events after any number, and a trace with its own names', async () => {
    const { runId } = await parley.chat(bot, { message: 'Hi' });
    const events = await Array.fromAsync(parley.runEvents(bot, runId, { after: 3 }));
    expect(events).toEqual([
      { seq: 4, type: 'text', delta: 'there.' },
      { seq: 5, type: 'done', runId, latencyMs: expect.any(Number) },
    ]);
    expect(await Array.fromAsync(parley.runEvents(bot, runId, { after: 5 }))).toEqual([]);
    const { trace } = await parley.run(bot, runId);
    expect(trace.spans.flatMap(({ attributes }) => Object.keys(attributes))).toContain(
      'gen_ai.usage.input_tokens',
    );
  });

  test('that do not exist are not found', async () => {
    const error = await parley.run(bot, 'run_none').catch((reason) => reason);
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ status: 404, code: 'run_not_found' });
    expect(error.requestId).toMatch(/^req_/);
  });
});

describe('a deployment', () => {
  test('is made, listed and rolled back', async () => {
    const first = await parley.deploy(bot, {
      source: agent(),
      environment: 'staging',
      message: 'First',
      envVars: { SOME_KEY: 'value' },
    });
    expect(first).toMatchObject({ botId: bot, status: 'deployed', parseErrors: [] });
    const back = await parley.rollback(bot, first.deploymentId, { message: 'Back' });
    expect(back).toMatchObject({ status: 'deployed', rolledBackTo: first.deploymentId });
    const list = await Array.fromAsync(parley.deployments(bot, { environment: 'staging' }));
    expect(list.map(({ message, active }) => [message, active])).toEqual([
      ['Back', true],
      ['First', false],
    ]);
  });

  test('of a definition with mistakes fails with each of them', async () => {
    const source = agent('temprature 1\n  color "red"');
    const error = await parley.deploy(bot, { source }).catch((reason) => reason);
    expect(error).toBeInstanceOf(DeployError);
    expect(error).toMatchObject({
      code: 'definition_invalid',
      requestId: expect.stringMatching(/^req_/),
      deployment: { status: 'failed', botId: bot },
    });
    expect(error.message).toMatch(/^Nothing was deployed: 5:3 unknown setting .*, and 1 more\.$/);
    expect(error.diagnostics).toEqual([
      {
        line: 5,
        column: 3,
        code: 'unknown-setting',
        message: expect.stringContaining('temprature'),
      },
      { line: 6, column: 3, code: 'unknown-setting', message: expect.stringContaining('color') },
    ]);
  });
});
