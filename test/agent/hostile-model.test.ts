import { beforeAll, describe, expect, test } from 'vitest';
import { agent, startApp, type Tenant, type TestApp, testCipher } from '../helpers/app.ts';
import { createTestDeploy } from '../helpers/deploy.ts';
import { streamChat } from '../helpers/stream.ts';
import type { Script } from '../helpers/upstream.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

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

/** Streams these deltas unchanged. */
const streams =
  (...deltas: object[]): Script =>
  ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunks = deltas.map((delta) => ({ choices: [{ index: 0, delta }] }));
    const last = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
    for (const chunk of [...chunks, last]) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    response.end('data: [DONE]\n\n');
  };
const calls = (count: number, name = 'time_now') =>
  Array.from({ length: count }, (_, index) => ({ index, id: `c${index}`, function: { name } }));

const chat = async (bot: string, sessionId = 's') => {
  const response = await tenant.chat(bot, { message: 'Hi' }, { 'x-session-id': sessionId });
  const id = response.headers.get('x-run-id') ?? '';
  return { body: await response.json(), run: await app.prisma.run.findUnique({ where: { id } }) };
};

/** Creates a bot whose variable SECRET has this value. */
const botWith = async (members: string, value: string) => {
  const botId = await tenant.bot(null);
  await createTestDeploy({ prisma: app.prisma, cipher: testCipher })({
    action: 'DEPLOY',
    botId,
    environment: 'PRODUCTION',
    source: agent(members),
    envVars: { SECRET: value },
    unsetEnvVars: [],
  });
  return botId;
};
const SECRET = 'hunter2-hunter2';

describe('a model that makes too many tool calls', () => {
  const refusal = {
    error: { code: 'model_error', message: "The model's answer has more than 128 tool calls." },
  };

  test.each([
    ['in one chunk', streams({ tool_calls: calls(10_000) })],
    ['in many chunks', streams(...calls(100_000).map((call) => ({ tool_calls: [call] })))],
  ])('%s fails the run, without events or spans for them', async (_how, script) => {
    const bot = await tenant.bot('tools time\n  limits { tool_calls 64 }');
    scripts(script);
    const { body, run } = await chat(bot);
    expect(body).toMatchObject(refusal);
    expect(run?.events).toHaveLength(1);
    expect(JSON.stringify(run?.spans)).not.toContain('execute_tool');
  });

  test('gets a result for each of 128, but only those within the limit are events', async () => {
    const bot = await tenant.bot('tools time\n  limits { tool_calls 20 }');
    scripts(streams({ tool_calls: calls(128) }), finish);
    const events = await streamChat(app, tenant, bot, { message: 'Hi' });
    const count = (type: string) => events.filter(({ __typename }) => __typename === type).length;
    expect(count('ToolStarted')).toBe(20);
    expect(count('ToolFinished')).toBe(20);
    const answers = app.upstream.requests.at(-1)?.body.messages.filter((one) => one.tool_call_id);
    expect(answers).toHaveLength(128);
    expect(answers?.[20]?.content).toMatch(/^Error: No more tool calls/);
  });
});

describe('a model that sends too much text', () => {
  test('in all replies of a run together fails the run', async () => {
    const bot = await tenant.bot('tools time');
    const text = 'x'.repeat(900 * 1024);
    scripts(streams({ content: text }, { tool_calls: calls(1) }));
    const { body, run } = await chat(bot);
    expect(body).toMatchObject({ error: { message: "The model's answer is too long." } });
    expect(run?.response?.length).toBe(4 * text.length);
  });

  test('in small pieces has later pieces coalesced, without loss', async () => {
    const bot = await tenant.bot();
    const pieces = Array.from({ length: 40_000 }, (_, index) => ({ content: `${index} ` }));
    scripts(streams(...pieces));
    const { run } = await chat(bot);
    expect(run?.response).toBe(pieces.map(({ content }) => content).join(''));
    const events = Array.isArray(run?.events) ? run.events : [];
    expect(events.length).toBeGreaterThan(32_768);
    expect(events.length).toBeLessThan(32_768 + 200);
  });

  test.each([
    ['texts that are numbers', { content: 7 }],
    ['tool calls that are a string', { tool_calls: 'x'.repeat(1_000) }],
    ['tool calls with wrong types', { tool_calls: [{ index: [], id: {}, function: { name: 1 } }] }],
  ])('in %s ends its run', async (_what, delta) => {
    const bot = await tenant.bot('tools time');
    scripts(streams(delta), finish);
    const { run } = await chat(bot);
    expect(['COMPLETED', 'FAILED']).toContain(run?.status);
  });
});

describe('a tool call', () => {
  test('with arguments over 64 KiB is refused unparsed, and its arguments are not stored', async () => {
    const bot = await tenant.bot('tools time');
    const text = JSON.stringify({ a: 'x'.repeat(64 * 1024) });
    scripts(({ call }) => call(['time_now', text]), finish);
    await chat(bot);
    const [toolCall, toolResult] = app.upstream.requests.at(-1)?.body.messages.slice(-2) ?? [];
    expect(toolResult?.content).toBe('Error: The arguments are larger than 64 KiB.');
    expect(toolCall?.tool_calls?.[0]?.function.arguments).toBe('{}');
  });

  test.each([
    ['a list of 1,001 items', { a: Array(1_001).fill(0) }, 'a list or an object of more than 1000'],
    ['33 levels', JSON.parse(`${'{"a":'.repeat(33)}[]${'}'.repeat(33)}`), 'nested deeper than 32'],
  ])('with %s is refused', async (_what, input, message) => {
    const bot = await tenant.bot('tools time');
    scripts(({ call }) => call(['time_now', input]), finish);
    await chat(bot);
    expect(app.upstream.requests.at(-1)?.body.messages.at(-1)?.content).toContain(message);
  });

  test.each([
    ['contains a secret', `find ${SECRET}`, 'find\\u0020[env.SECRET]'],
    ['contains markup', '<b>\n"x"', '\\u003cb\\u003e\\u000a\\u0022x\\u0022'],
    ['is long', 'n'.repeat(5_000), `${'n'.repeat(64)}...`],
    ['has a secret at the length limit', `${'n'.repeat(60)}${SECRET}`, `${'n'.repeat(60)}...`],
  ])('with a name that %s shows it redacted, truncated and escaped', async (_what, name, shown) => {
    const bot = await botWith('tools time', SECRET);
    scripts(({ call }) => call([name, {}]), finish);
    const events = await streamChat(app, tenant, bot, { message: 'Hi', sessionId: 's' });
    expect(events[1]).toMatchObject({ __typename: 'ToolStarted', name: shown });
    const { messages } = app.upstream.requests.at(-1)?.body ?? { messages: [] };
    expect(messages.at(-1)?.content).toBe(`Error: There is no tool "${shown}".`);
    const stored = await app.prisma.message.findMany({
      where: { session: { botId: bot } },
      orderBy: { position: 'asc' },
    });
    expect(JSON.stringify(stored)).not.toContain(SECRET);
    expect(stored[1]?.toolCalls).toMatchObject([{ name: shown }]);
  });

  test('has its id and arguments redacted, and its id truncated in events', async () => {
    const bot = await botWith('tools time', SECRET);
    const id = `${SECRET}${'i'.repeat(300)}`;
    const call = { index: 0, id, function: { name: 'time_now', arguments: `{"${SECRET}":1}` } };
    scripts(streams({ tool_calls: [call] }), finish);
    const events = await streamChat(app, tenant, bot, { message: 'Hi', sessionId: 's' });
    expect(JSON.stringify(events)).not.toContain(SECRET);
    expect(events[1]).toMatchObject({ callId: expect.stringMatching(/^\[env\.SECRET\]i{244}$/) });
    const sent = app.upstream.requests.at(-1)?.body.messages.slice(-2);
    expect(JSON.stringify(sent)).not.toContain(SECRET);
    expect(sent?.[1]?.content).toContain('[env.SECRET]');
  });

  test('stores no secret in the memory', async () => {
    const bot = await botWith('memory { note }', SECRET);
    scripts(
      ({ call }) => call(['memory_save', { name: 'note', value: `It is ${SECRET}.` }]),
      finish,
    );
    await chat(bot);
    const [entry] = await app.prisma.memoryEntry.findMany({ where: { session: { botId: bot } } });
    expect(entry?.value).toBe('It is [env.SECRET].');
  });
});

test('the trace truncates a model server’s own values to 256 characters', async () => {
  const bot = await tenant.bot();
  app.upstream.script(({ response }) => {
    const long = 'l'.repeat(100_000);
    const choices = [{ index: 0, delta: { content: 'Hi' }, finish_reason: long }];
    const usage = { prompt_tokens: -1, completion_tokens: 1e308 };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify({ model: long, choices, usage })}\n\ndata: [DONE]\n\n`);
  });
  const { run } = await chat(bot);
  expect(run).toMatchObject({ status: 'COMPLETED', tokensEstimated: true });
  expect(JSON.stringify(run?.spans)).not.toMatch(/l{257}/);
});
