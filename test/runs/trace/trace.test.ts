import { on } from 'node:events';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { ATTRIBUTE, OPERATION } from '../../../src/runs/record/semconv.ts';
import { createResource } from '../../../src/runs/trace/resource.ts';
import { createTracing } from '../../../src/runs/trace/trace.ts';
import { agent, startApp, type Tenant, type TestApp, testCipher } from '../../helpers/app.ts';
import { createTestDeploy } from '../../helpers/deploy.ts';
import { type Site, startSite } from '../../helpers/site.ts';
import type { Script } from '../../helpers/upstream.ts';

let app: TestApp;
let tenant: Tenant;
let site: Site;
beforeAll(async () => {
  site = await startSite();
  app = await startApp({ allowedHosts: [site.host] });
  tenant = await app.tenant();
  return () => site.close();
});
beforeEach(() => {
  app.upstream.requests.length = 0;
});

type Span = {
  spanId: string;
  parentId: string | null;
  name: string;
  startedAt: string;
  durationMs: number;
  status: string;
  attributes: Record<string, unknown>;
};
type Trace = { traceId: string; spans: Span[] };

const RUN = `query ($id: ID!) {
  run(id: $id) {
    trace { traceId spans { spanId parentId name startedAt durationMs status attributes } }
  }
}`;

const traceOf = async (id: string): Promise<Trace> => {
  const { data, errors } = await tenant.graphql(RUN, { id });
  expect(errors).toBeUndefined();
  return data.run.trace;
};

/** Chats, successfully or not. @returns the trace of the run. */
const chat = async (bot: string, body: object = {}, headers: Record<string, string> = {}) => {
  const response = await tenant.chat(bot, { message: 'Hi', ...body }, headers);
  await response.text();
  return traceOf(String(response.headers.get('x-run-id')));
};

/** Sets the scripts of the model's calls in order. The last one serves all further calls. */
const scripts = (...list: Script[]) => {
  let call = 0;
  app.upstream.script((exchange) => {
    const script = list[Math.min(call, list.length - 1)];
    call += 1;
    return script?.(exchange);
  });
};
const finish: Script = ({ say, end }) => {
  say('Done.');
  end();
};

const findRun = (id: string) => app.prisma.run.findUniqueOrThrow({ where: { id } });

/** The names of a trace as a tree, each indented below its parent. */
const tree = ({ spans }: Trace): string[] => {
  const depths = new Map<string, number>();
  return spans.map(({ spanId, parentId, name }) => {
    const depth = (depths.get(parentId ?? '') ?? -1) + 1;
    depths.set(spanId, depth);
    return '  '.repeat(depth) + name;
  });
};
const named = ({ spans }: Trace, name: string): Span => {
  const span = spans.find((one) => one.name === name);
  if (!span) throw new Error(`The trace has no span "${name}".`);
  return span;
};
/** The errors of the spans, with the spans' names. */
const errorsOf = ({ spans }: Trace) =>
  spans.flatMap(({ name, status, attributes }) =>
    status === 'ERROR' ? [`${name}: ${attributes['error.type']}`] : [],
  );

const SHOP_KEY = 'hunter2-hunter2';

/** Creates a bot that may call the shop. Its address causes a warning, so the deployment must succeed with it. */
const shopBot = async (members = '') => {
  const botId = await tenant.bot(null);
  const source = agent(`${members}
  tools shop {
    capability lookup "Looks an order up" {
      input { id string }
      get "http://${site.host}/orders/{{ input.id }}" {
        header "X-Plan" "{{ context.plan }}"
        header "X-Key" "{{ env.SHOP_KEY }}"
      }
    }
  }`);
  const { status } = await createTestDeploy({ prisma: app.prisma, cipher: testCipher })({
    action: 'DEPLOY',
    botId,
    environment: 'PRODUCTION',
    source,
    envVars: { SHOP_KEY },
    unsetEnvVars: [],
  });
  expect(status).toBe('DEPLOYED');
  return botId;
};

describe('the trace of a run', () => {
  test('has the four documented steps in order, and the calls of the model and of tools', async () => {
    const bot = await tenant.bot('tools time');
    scripts(({ call }) => call(['time_now', {}]), finish);
    const trace = await chat(bot, { context: { plan: 'pro' } }, { 'x-session-id': 's' });
    expect(tree(trace)).toEqual([
      'invoke_agent Test',
      '  load_history',
      '  inject_memory',
      '  merge_context',
      '  send_to_model',
      '    chat scripted',
      '    execute_tool time.now',
      '    chat scripted',
    ]);
    expect(trace.traceId).toMatch(/^[\da-f]{32}$/);
    for (const span of trace.spans) {
      expect(span.spanId).toMatch(/^[\da-f]{16}$/);
      expect(span.status).toBe('UNSET');
      expect(span.durationMs).toBeGreaterThanOrEqual(0);
    }
    const begun = trace.spans.map(({ startedAt }) => Date.parse(startedAt));
    expect(begun).toEqual(begun.toSorted((one, other) => one - other));
  });

  test('records the addition of each step to the model’s input', async () => {
    const bot = await tenant.bot('prompt "For {{ context.plan }}"\n  memory { name "Name" }');
    scripts(({ call }) => call(['memory_save', { name: 'name', value: 'Ada' }]), finish);
    await chat(bot, {}, { 'x-session-id': 's' });
    scripts(finish);
    const trace = await chat(bot, { context: { plan: 'pro' } }, { 'x-session-id': 's' });
    const [system, ...others] = app.upstream.requests.at(-1)?.body.messages ?? [];
    const past = others.slice(0, -1);
    expect(past).toHaveLength(4);
    expect(named(trace, 'load_history').attributes).toEqual({ 'parley.history.messages': 4 });
    expect(system?.content).toContain('<memory>\n{"name":"Ada"}');
    expect(named(trace, 'inject_memory').attributes).toEqual({ 'parley.memory.facts': 1 });
    expect(system?.content).toContain('For pro');
    expect(system?.content).toContain('<context>\n{"plan":"pro"}');
    expect(named(trace, 'merge_context').attributes).toEqual({ 'parley.context.keys': 1 });
  });

  test('follows OpenTelemetry’s conventions for generative AI', async () => {
    const bot = await tenant.bot(
      'model "big" {\n    temperature 0.5\n    max_tokens 99\n  }\n  tools time',
    );
    scripts(
      ({ call }) => call(['time_now', {}]),
      ({ response }) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const chunk of [
          { model: 'big-2026', choices: [{ delta: { content: 'Yes' }, finish_reason: 'length' }] },
          { choices: [], usage: { prompt_tokens: 20, completion_tokens: 5 } },
        ]) {
          response.write(`data: ${JSON.stringify(chunk)}\n\n`);
        }
        response.end('data: [DONE]\n\n');
      },
    );
    const response = await tenant.chat(bot, { message: 'Hi' }, { 'x-session-id': 'user-1' });
    const runId = String(response.headers.get('x-run-id'));
    const { deploymentId } = await app.prisma.run.findUniqueOrThrow({ where: { id: runId } });
    const { spans } = await traceOf(runId);
    expect(spans[0]?.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'openai',
      'gen_ai.agent.id': bot,
      'gen_ai.agent.name': 'Test',
      'gen_ai.agent.version': deploymentId,
      'gen_ai.conversation.id': 'user-1',
      'gen_ai.request.model': 'big',
      'gen_ai.usage.input_tokens': 32,
      'gen_ai.usage.output_tokens': 8,
      'parley.run.id': runId,
      'parley.environment': 'production',
      'parley.channel': 'api',
      'parley.entrance': 'rest',
      'parley.client': 'node',
    });
    const tool = spans.find(({ name }) => name === 'execute_tool time.now');
    expect(tool?.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'time.now',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': 'call_1_0',
      'parley.tool_call.id': expect.stringMatching(/^tcl_/),
    });
    const [, second] = spans.filter(({ name }) => name === 'chat big');
    expect(second?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.conversation.id': 'user-1',
      'gen_ai.request.model': 'big',
      'gen_ai.request.stream': true,
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.max_tokens': 99,
      'gen_ai.response.model': 'big-2026',
      'gen_ai.response.finish_reasons': ['length'],
      'gen_ai.response.time_to_first_chunk': expect.any(Number),
      'gen_ai.usage.input_tokens': 20,
      'gen_ai.usage.output_tokens': 5,
    });
  });

  test('has the conversation id on a model call only within a session', async () => {
    const bot = await tenant.bot();
    scripts(finish);
    const { data } = await tenant.graphql(
      `mutation { execute(botId: "${bot}", input: { prompt: "Go" }) { id } }`,
    );
    const call = named(await traceOf(data.execute.id), 'chat scripted');
    expect(call.attributes).not.toHaveProperty(['gen_ai.conversation.id']);
    const session = named(await chat(bot, {}, { 'x-session-id': 's' }), 'chat scripted');
    expect(session.attributes).toHaveProperty(['gen_ai.conversation.id'], 's');
  });

  test('uses only names from the conventions', () => {
    const known = new Set<unknown>(Object.values(conventions));
    const used = [...Object.values(ATTRIBUTE), ...Object.values(OPERATION), 'openai'];
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  });

  test('contains no messages, prompts, arguments or tool results', async () => {
    site.handle((_request, response) => response.writeHead(500).end('answer-words'));
    const bot = await shopBot('prompt "prompt-words"');
    scripts(({ say, call }) => {
      say('reply-words');
      call(['shop_lookup', { id: 'argument-words' }], ['name-words', {}]);
    }, finish);
    const trace = await chat(bot, { message: 'message-words', context: { key: 'context-words' } });
    expect(trace.spans).toHaveLength(9);
    expect(JSON.stringify(trace)).not.toContain('words');
  });

  test('can be stored with invalid strings from a model server', async () => {
    const bot = await tenant.bot();
    scripts(({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const choices = [{ delta: { content: 'Hi' }, finish_reason: 'odd\u0000' }];
      const chunk = { model: `${'m'.repeat(255)}😀`, choices };
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
    });
    const { attributes } = named(await chat(bot), 'chat scripted');
    expect(attributes['gen_ai.response.finish_reasons']).toEqual(['odd\uFFFD']);
    expect(attributes['gen_ai.response.model']).toBe(`${'m'.repeat(255)}\uFFFD`);
    expect(attributes['gen_ai.usage.input_tokens']).toBeUndefined();
  });

  test('contains no value of a variable, even if a model server returns it', async () => {
    const bot = await shopBot();
    const say =
      (chunk: object): Script =>
      ({ response }) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
      };
    const lookup = { name: 'shop_lookup', arguments: '{"id":"7"}' };
    const call = { index: 0, id: `call-${SHOP_KEY}`, type: 'function', function: lookup };
    scripts(
      say({ choices: [{ delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }] }),
      say({ model: SHOP_KEY, choices: [{ delta: {}, finish_reason: SHOP_KEY }] }),
    );
    const trace = await chat(bot);
    expect(tree(trace)).toHaveLength(8);
    expect(JSON.stringify(trace)).not.toContain(SHOP_KEY);
    const sent = app.upstream.requests.at(-1)?.body.messages.slice(-2);
    expect(sent?.[0]?.tool_calls?.[0]?.id).toBe(sent?.[1]?.tool_call_id);
  });

  test('marks estimated token counts', async () => {
    const bot = await tenant.bot();
    scripts(({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const choices = [{ delta: { content: 'Hi' }, finish_reason: 'stop' }];
      response.end(`data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n`);
    });
    const { spans } = await chat(bot);
    expect(spans[0]?.attributes).toMatchObject({ 'parley.usage.estimated': true });
  });
});

describe('an error in a run', () => {
  test.each<[what: string, script: Script]>([
    ['returns an error', ({ response }) => void response.writeHead(400).end('{}')],
    [
      'breaks off',
      ({ say, cut }) => {
        say('Well');
        cut();
      },
    ],
    ['disconnects', ({ response }) => void response.destroy()],
  ])('is in the trace if the model %s', async (_what, script) => {
    const bot = await tenant.bot();
    scripts(script);
    const trace = await chat(bot);
    expect(tree(trace)).toHaveLength(6);
    expect(errorsOf(trace)).toEqual([
      'invoke_agent Test: model_error',
      'send_to_model: model_error',
      'chat scripted: model_error',
    ]);
  });

  test('is in the trace if the run times out, also on its active tool call', async () => {
    const bot = await shopBot('limits { run_time 2s }');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    // The time is over while the tool is called, however long the calls before it took.
    site.handle(() => vi.advanceTimersByTime(2_000));
    scripts(({ call }) => call(['shop_lookup', { id: '7' }]));
    const trace = await chat(bot, { context: { plan: 'pro' } });
    expect(errorsOf(trace)).toEqual([
      'invoke_agent Test: model_timeout',
      'send_to_model: model_timeout',
      'execute_tool shop.lookup: model_timeout',
    ]);
  });

  test('is in the trace if the last reader disconnects', async () => {
    const bot = await tenant.bot();
    const gone = new AbortController();
    scripts(async ({ say, closed }) => {
      say('Well');
      await closed;
    });
    const response = await fetch(`${app.url}/v1/bots/${bot}/chat/stream?message=Hi`, {
      headers: tenant.headers,
      signal: gone.signal,
    });
    const runId = String(response.headers.get('x-run-id'));
    gone.abort();
    await expect
      .poll(() => app.prisma.run.findUnique({ where: { id: runId } }))
      .toMatchObject({ status: 'CANCELLED' });
    const trace = await traceOf(runId);
    expect(errorsOf(trace)).toEqual([
      'invoke_agent Test: cancelled',
      'send_to_model: cancelled',
      'chat scripted: cancelled',
    ]);
  });

  test('is in the trace if the run could not be stored', async () => {
    const bot = await tenant.bot();
    scripts(async ({ say, end }) => {
      say('Well');
      await app.prisma.session.deleteMany({ where: { botId: bot } });
      end();
    });
    const trace = await chat(bot);
    expect(errorsOf(trace)).toEqual(['invoke_agent Test: internal_error']);
  });
});

describe('a tool call in a trace', () => {
  const called = async (bot: string, tool: [string, unknown], body: object = {}) => {
    scripts(({ call }) => call(tool), finish);
    return chat(bot, body);
  };

  test('fails with the status of the response', async () => {
    site.handle((_request, response) => response.writeHead(503).end());
    const trace = await called(await shopBot(), ['shop_lookup', { id: '7' }]);
    expect(errorsOf(trace)).toEqual(['execute_tool shop.lookup: 503']);
    expect(named(trace, 'execute_tool shop.lookup').attributes).toMatchObject({
      'http.response.status_code': 503,
    });
  });

  test('fails if the tool server disconnects', async () => {
    site.handle((_request, response) => response.destroy());
    const trace = await called(await shopBot(), ['shop_lookup', { id: '7' }]);
    expect(errorsOf(trace)).toEqual(['execute_tool shop.lookup: broken_answer']);
  });

  test('fails if the model sends invalid arguments', async () => {
    expect(errorsOf(await called(await shopBot(), ['shop_lookup', {}]))).toEqual([
      'execute_tool shop.lookup: invalid_arguments',
    ]);
    expect(errorsOf(await called(await shopBot(), ['shop_lookup', '{']))).toEqual([
      'execute_tool shop.lookup: invalid_arguments',
    ]);
  });

  test('has a tool name only if the tool exists', async () => {
    const trace = await called(await tenant.bot('tools time'), ['launch_rockets', {}]);
    expect(errorsOf(trace)).toEqual(['execute_tool: unknown_tool']);
    expect(named(trace, 'execute_tool').attributes).not.toHaveProperty('gen_ai.tool.name');
  });

  test('is counted without a span if it exceeds the limit', async () => {
    const bot = await tenant.bot('tools time\n  limits { tool_calls 1 }');
    scripts(({ call }) => call(['time_now', {}], ['time_now', {}], ['time_now', {}]), finish);
    const trace = await chat(bot);
    expect(trace.spans.filter(({ name }) => name.startsWith('execute_tool'))).toHaveLength(1);
    expect(named(trace, 'send_to_model').attributes).toMatchObject({
      'parley.tool_calls.refused': 2,
    });
  });

  test('lists the values missing from its address and headers', async () => {
    site.handle((_request, response) => response.end('{}'));
    const bot = await shopBot();
    const without = await called(bot, ['shop_lookup', { id: '..' }]);
    expect(named(without, 'execute_tool shop.lookup').attributes).toMatchObject({
      'parley.template.missing': ['input.id', 'context.plan'],
    });
    const withAll = await called(bot, ['shop_lookup', { id: '7' }], {
      context: { plan: 'pro' },
    });
    expect(named(withAll, 'execute_tool shop.lookup').attributes).not.toHaveProperty(
      'parley.template.missing',
    );
  });
});

describe('a prompt with missing values', () => {
  test('lists them in the trace', async () => {
    const bot = await tenant.bot(
      'prompt "{{ context.customer.plan }} {{ memory.name }} {{ context.tone ?? \\"kind\\" }}"\n  memory { name "Name" }',
    );
    scripts(finish);
    expect(named(await chat(bot), 'merge_context').attributes).toMatchObject({
      'parley.template.missing': ['context.customer.plan', 'memory.name'],
    });
  });
});

describe('traces of runs', () => {
  test('have an id while the run is active, and spans after its end', async () => {
    const bot = await tenant.bot();
    let during: Trace | undefined;
    scripts(async ({ say, end }) => {
      const { id } = await app.prisma.run.findFirstOrThrow({ where: { botId: bot } });
      during = await traceOf(id);
      say('Done.');
      end();
    });
    const after = await chat(bot);
    expect(during).toEqual({ traceId: after.traceId, spans: [] });
    expect(after.spans).toHaveLength(6);
  });

  test('are kept when a session is forgotten, without its id', async () => {
    const bot = await tenant.bot();
    scripts(finish);
    const { spans } = await chat(bot, {}, { 'x-session-id': 'forgotten-user' });
    await tenant.graphql(
      `mutation { forgetSession(botId: "${bot}", sessionId: "forgotten-user") }`,
    );
    const run = await app.prisma.run.findFirstOrThrow({ where: { botId: bot } });
    expect(run).toMatchObject({ input: '', response: null });
    const { spans: kept } = await traceOf(run.id);
    expect(JSON.stringify(spans)).toContain('forgotten-user');
    expect(JSON.stringify(kept)).not.toContain('forgotten-user');
    expect(kept.map(({ name }) => name)).toEqual(spans.map(({ name }) => name));
  });
});

describe('the caller’s trace', () => {
  const traceId = 'a'.repeat(32);
  const parentId = 'b'.repeat(16);
  const traceparent = (flags = '01') => `00-${traceId}-${parentId}-${flags}`;
  const chatField = (bot: string) =>
    `chat(botId: "${bot}", input: { message: "Hi", sessionId: "s" })`;
  const continued = {
    traceId,
    spans: expect.arrayContaining([expect.objectContaining({ parentId })]),
  };

  const newestTrace = async (bot: string) => {
    const run = await app.prisma.run.findFirstOrThrow({ where: { botId: bot } });
    return traceOf(run.id);
  };

  const post = async (path: string, query: string, headers = {}) => {
    const response = await fetch(app.url + path, {
      method: 'POST',
      headers: {
        ...tenant.headers,
        ...headers,
        'content-type': 'application/json',
        traceparent: traceparent(),
      },
      body: JSON.stringify({ query }),
    });
    expect(response.status).toBe(200);
    await response.text();
  };

  test('continues in a run over REST', async () => {
    const trace = await chat(await tenant.bot(), {}, { traceparent: traceparent() });
    expect(trace).toMatchObject(continued);
    expect(trace.spans[0]?.parentId).toBe(parentId);
    expect(tree(trace)).toHaveLength(6);
  });

  test('continues in a run over GraphQL', async () => {
    const bot = await tenant.bot();
    await post('/graphql', `mutation { ${chatField(bot)} { response } }`);
    expect(await newestTrace(bot)).toMatchObject(continued);
  });

  test('continues in a run over GraphQL’s event stream', async () => {
    const bot = await tenant.bot();
    const headers = { accept: 'text/event-stream' };
    await post('/graphql/stream', `subscription { ${chatField(bot)} { __typename } }`, headers);
    expect(await newestTrace(bot)).toMatchObject(continued);
  });

  test('continues in the runs of a WebSocket that was opened with it', async () => {
    const bot = await tenant.bot();
    const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws', {
      headers: { ...tenant.headers, traceparent: traceparent() },
    });
    const messages = on(socket, 'message');
    const query = `subscription { ${chatField(bot)} { __typename } }`;
    socket.on('open', () => socket.send('{"type":"connection_init"}'));
    for await (const [data] of messages) {
      const { type } = JSON.parse(String(data));
      const subscribe = { id: '1', type: 'subscribe', payload: { query } };
      if (type === 'connection_ack') socket.send(JSON.stringify(subscribe));
      if (type === 'complete') break;
    }
    socket.close();
    expect(await newestTrace(bot)).toMatchObject(continued);
  });

  test('is stored completely even if it is not sampled', async () => {
    const trace = await chat(await tenant.bot(), {}, { traceparent: traceparent('00') });
    expect(trace).toMatchObject(continued);
    expect(tree(trace)).toHaveLength(6);
  });

  test.each([
    ['empty', ''],
    ['not a traceparent', 'hello'],
    ['all zeros', `00-${'0'.repeat(32)}-${parentId}-01`],
    ['of an invalid version', `ff-${traceId}-${parentId}-01`],
    ['too long', `${traceparent()}-more`],
    ['in upper case', traceparent().toUpperCase()],
    ['two values', `${traceparent()}, ${traceparent()}`],
  ])('is ignored if the header is %s', async (_what, header) => {
    const trace = await chat(await tenant.bot(), {}, { traceparent: header });
    expect(trace.traceId).toMatch(/^[\da-f]{32}$/);
    expect(trace.traceId).not.toBe(traceId);
    expect(trace.spans[0]?.parentId).toBeNull();
  });

  test('is not sent to model servers or tools', async () => {
    site.requests.length = 0;
    site.handle((_request, response) => response.end('{}'));
    const bot = await shopBot();
    scripts(({ call }) => call(['shop_lookup', { id: '7' }]), finish);
    await chat(bot, {}, { traceparent: traceparent() });
    const sent = [...app.upstream.requests, ...site.requests];
    expect(sent).toHaveLength(3);
    for (const { headers } of sent) expect(JSON.stringify(headers)).not.toContain(traceId);
  });
});

describe('the trace of a run whose process died', () => {
  test('contains the spans stored until then, with the interrupted ones marked', async () => {
    const held = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end }) => {
      say('So much');
      await held.promise;
      end();
    });
    const response = await tenant.chat(
      await tenant.bot(),
      { message: 'Hi', stream: true },
      { accept: 'text/event-stream' },
    );
    const id = String(response.headers.get('x-run-id'));
    // If the model begins late, a piece without text is before.
    const pieces = () =>
      app.prisma.runProgress.count({ where: { runId: id, response: 'So much' } });
    await expect.poll(pieces).toBe(1);
    expect((await traceOf(id)).spans).toEqual([]);

    await app.prisma.run.update({ where: { id }, data: { ownerId: null } });
    await expect.poll(async () => (await findRun(id)).errorCode).toBe('interrupted');
    const trace = await traceOf(id);
    expect(tree(trace)).toEqual([
      'invoke_agent Test',
      '  load_history',
      '  inject_memory',
      '  merge_context',
      '  send_to_model',
      '    chat scripted',
    ]);
    const interrupted = { status: 'ERROR', attributes: { 'error.type': 'interrupted' } };
    expect(trace.spans[0]).toMatchObject(interrupted);
    expect(named(trace, 'chat scripted')).toMatchObject(interrupted);
    expect(named(trace, 'merge_context')).toMatchObject({ status: 'UNSET' });
    held.resolve();
    await response.text();
  });

  test('has the duration of open spans, and 0 if the clock was set back', () => {
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
    onTestFinished(() => clock.mockRestore());
    const run = { botId: 'bot', environment: 'PRODUCTION', channel: 'API' } as const;
    const trace = createTracing({ exporter: undefined, resource: createResource() }).begin(
      { ...run, provider: 'openai', agentName: 'Test' },
      undefined,
    );
    clock.mockReturnValue(Date.now() + 250);
    expect(trace.interrupted()).toMatchObject([{ durationMs: 250 }]);
    clock.mockReturnValue(Date.now() - 1_000);
    expect(trace.interrupted()).toMatchObject([{ durationMs: 0 }]);
  });
});
