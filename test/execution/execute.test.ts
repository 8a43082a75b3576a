import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { frames } from '../helpers/stream.ts';
import { hello } from '../helpers/upstream.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot('memory { name "The name" }\n  tools time');
});
beforeEach(() => app.upstream.script(hello));

const execute = (body: object, headers: Record<string, string> = {}) =>
  fetch(`${app.url}/v1/bots/${bot}/execute`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const findRun = (id: string) => app.prisma.run.findUniqueOrThrow({ where: { id } });

describe('POST /v1/bots/:id/execute', () => {
  test('runs a prompt without history, memory or session', async () => {
    await tenant.chat(bot, { message: 'Before' }, { 'x-session-id': 's' });
    const response = await execute(
      { prompt: 'Do it', context: { plan: 'pro' }, metadata: { job: 7 } },
      { 'x-session-id': 's' },
    );
    expect(response.status).toBe(200);
    const reply = await response.json();
    expect(reply).toEqual({
      response: 'Hello there.',
      run_id: response.headers.get('x-run-id'),
      latency_ms: expect.any(Number),
      tokens_used: 15,
      tools_called: [],
    });
    const { messages, tools } = app.upstream.requests.at(-1)?.body ?? {};
    expect(messages?.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(messages?.[0]?.content).toContain('<context>\n{"plan":"pro"}\n</context>');
    expect(tools?.map(({ function: { name } }) => name)).toEqual(['time_now']);
    expect(await findRun(response.headers.get('x-run-id') ?? '')).toMatchObject({
      kind: 'EXECUTE',
      status: 'COMPLETED',
      sessionId: null,
      input: 'Do it',
      response: 'Hello there.',
      metadata: { job: 7 },
      context: { plan: 'pro' },
    });
    expect(await app.prisma.message.count({ where: { run: { botId: bot } } })).toBe(2);
  });

  test('streams the response', async () => {
    const response = await execute(
      { prompt: 'Do it', stream: true },
      { accept: 'text/event-stream' },
    );
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await frames(response)).toEqual([
      { delta: 'Hello' },
      { delta: ' ' },
      { delta: 'there.' },
      {
        event: 'done',
        run_id: response.headers.get('x-run-id'),
        latency_ms: expect.any(Number),
      },
    ]);
  });

  test('reports every problem of a request', async () => {
    const response = await execute({ context: 7, metadata: [], environment: 'x', stream: 'yes' });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { details: { path: string }[] } };
    expect(error.details.map(({ path }) => path).sort()).toEqual([
      'context',
      'environment',
      'metadata',
      'prompt',
      'stream',
    ]);
  });

  test('runs several prompts concurrently', async () => {
    let waiting = 0;
    const all = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end }) => {
      waiting += 1;
      if (waiting === 5) all.resolve();
      await all.promise;
      say('Hello there.');
      end();
    });
    const answers = await Promise.all(Array.from({ length: 5 }, () => execute({ prompt: 'Go' })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  test('returns the run over GraphQL', async () => {
    app.upstream.script(({ say, end }) => {
      say('Done.');
      end();
    });
    const { data } = await tenant.graphql(
      `mutation { execute(botId: "${bot}", input: { prompt: "Do it" }) {
        kind status response sessionId trace { spans { name } } } }`,
    );
    expect(data.execute).toMatchObject({
      kind: 'EXECUTE',
      status: 'COMPLETED',
      response: 'Done.',
      sessionId: null,
    });
    const names = data.execute.trace.spans.map(({ name }: { name: string }) => name);
    expect(names.slice(1, 3)).toEqual(['merge_context', 'send_to_model']);
  });

  test('returns an error if the run fails', async () => {
    app.upstream.script(({ response }) => {
      response.writeHead(400).end();
    });
    const response = await execute({ prompt: 'Do it' });
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ error: { code: 'model_error' } });
    expect(await findRun(response.headers.get('x-run-id') ?? '')).toMatchObject({
      status: 'FAILED',
    });
  });
});
