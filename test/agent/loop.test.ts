import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { streamChat } from '../helpers/stream.ts';
import type { Script } from '../helpers/upstream.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});
beforeEach(() => {
  app.upstream.requests.length = 0;
});

type Reply = { response: string; run_id: string; tokens_used: number; tools_called: string[] };

/** Sets the scripts of the model's calls in order. The last one serves all further calls. */
const scripts = (...list: Script[]) => {
  let call = 0;
  app.upstream.script((exchange) => {
    const script = list[Math.min(call, list.length - 1)];
    call += 1;
    return script?.(exchange);
  });
};

const chat = async (bot: string, message = 'Hi', sessionId = 's') => {
  const response = await tenant.chat(bot, { message }, { 'x-session-id': sessionId });
  expect(response.status).toBe(200);
  return (await response.json()) as Reply;
};
const finish: Script = ({ say, end }) => {
  say('Done.');
  end();
};
const lastMessages = () => app.upstream.requests.at(-1)?.body.messages ?? [];
const toolResults = () =>
  lastMessages()
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => content);

describe('an agent with tools', () => {
  test('runs the model’s tool calls, returns their results to it, and replies with all of its text', async () => {
    const bot = await tenant.bot('tools time');
    scripts(({ say, call }) => {
      say('Let me look. ');
      call(['time_now', {}]);
    }, finish);
    const reply = await chat(bot);
    expect(reply).toMatchObject({
      response: 'Let me look. Done.',
      tokens_used: 30,
      tools_called: ['time.now'],
    });
    const [first, second] = app.upstream.requests;
    expect(first?.body.tools).toEqual([
      {
        type: 'function',
        function: {
          name: 'time_now',
          description: expect.any(String),
          parameters: { type: 'object', properties: {} },
        },
      },
    ]);
    expect(second?.body.messages.slice(-2)).toEqual([
      {
        role: 'assistant',
        content: 'Let me look. ',
        tool_calls: [
          { id: 'call_1_0', type: 'function', function: { name: 'time_now', arguments: '{}' } },
        ],
      },
      {
        role: 'tool',
        tool_call_id: 'call_1_0',
        content: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      },
    ]);
  });

  test('emits events for every call, and keeps the whole turn as history', async () => {
    const bot = await tenant.bot('tools time');
    scripts(({ call }) => call(['time_now', {}]), finish);
    const events = await streamChat(app, tenant, bot, { message: 'Hi', sessionId: 's' });
    expect(events).toMatchObject([
      { __typename: 'RunStarted', seq: 1 },
      { __typename: 'ToolStarted', seq: 2, name: 'time.now', callId: 'call_1_0' },
      { __typename: 'ToolFinished', seq: 3, name: 'time.now', callId: 'call_1_0', failed: false },
      { __typename: 'TextDelta', seq: 4, delta: 'Done.' },
      { __typename: 'ChatDone', seq: 5, toolsCalled: ['time.now'] },
    ]);
    scripts(finish);
    await chat(bot, 'And now?');
    expect(lastMessages().map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
    expect(lastMessages()[2]?.tool_calls?.[0]?.function.name).toBe('time_now');
  });

  test('never sends a tool result without its call, even with a short history', async () => {
    const bot = await tenant.bot('tools time\n  history last 2 messages');
    scripts(({ call }) => call(['time_now', {}]), finish);
    await chat(bot);
    scripts(finish);
    await chat(bot, 'And now?');
    expect(lastMessages().map(({ role }) => role)).toEqual(['system', 'user']);
  });

  test('runs several calls, and lists each tool once', async () => {
    const bot = await tenant.bot('tools time\n  memory { name }');
    scripts(
      ({ call }) =>
        call(['time_now', {}], ['memory_save', { name: 'name', value: 'Ada' }], ['time_now', {}]),
      finish,
    );
    expect((await chat(bot)).tools_called).toEqual(['time.now', 'memory.save']);
    expect(toolResults()).toEqual([
      expect.stringMatching(/Z$/),
      'Saved.',
      expect.stringMatching(/Z$/),
    ]);
  });

  test.each<[string, [string, unknown], string]>([
    ['an unknown tool', ['shop_find', {}], 'Error: There is no tool "shop_find".'],
    ['broken arguments', ['time_now', '{"a": '], 'Error: The arguments are not valid JSON.'],
    ['arguments of the wrong type', ['time_now', []], 'Error: The input is not valid.'],
    ['unexpected arguments', ['time_now', { a: 1 }], 'Error: The input is not valid.'],
  ])('reports %s to the model, and continues', async (_what, call, error) => {
    const bot = await tenant.bot('tools time');
    scripts((exchange) => exchange.call(call), finish);
    expect((await chat(bot)).response).toBe('Done.');
    expect(toolResults()[0]).toContain(error);
  });

  test('stores a turn with calls that cannot be stored verbatim, and lists only existing tools', async () => {
    const bot = await tenant.bot('tools time');
    scripts(({ call }) => call(['no\u0000thing', {}], ['time_now', {}]), finish);
    const { run_id: id, tools_called } = await chat(bot);
    expect(tools_called).toEqual(['time.now']);
    const run = await app.prisma.run.findUniqueOrThrow({ where: { id } });
    expect(run).toMatchObject({ status: 'COMPLETED', toolsCalled: ['time.now'] });
    expect(toolResults()[0]).toBe('Error: There is no tool "no\\ufffdthing".');
  });

  test('runs only as many calls as allowed, and then forbids the model to call tools', async () => {
    const bot = await tenant.bot('tools time\n  limits { tool_calls 2 }');
    scripts(({ request, call, say, end }) => {
      if (request.body.tool_choice !== 'none')
        return call(['time_now', {}], ['time_now', {}], ['time_now', {}]);
      say('Enough.');
      end();
    });
    expect((await chat(bot)).response).toBe('Enough.');
    expect(toolResults().map((text) => text.startsWith('Error: No more tool calls'))).toEqual([
      false,
      false,
      true,
    ]);
    expect(app.upstream.requests).toHaveLength(2);
  });

  test('ends the run if the model calls tools although none were offered', async () => {
    const bot = await tenant.bot();
    scripts(({ say, call }) => {
      say('Well.');
      call(['time_now', {}]);
    });
    expect(await chat(bot)).toMatchObject({ response: 'Well.', tools_called: [] });
    scripts(finish);
    await chat(bot);
    expect(lastMessages().some(({ tool_calls }) => tool_calls)).toBe(false);
  });

  test('offers no tools if no calls are allowed', async () => {
    const bot = await tenant.bot('tools time\n  limits { tool_calls 0 }');
    scripts(finish);
    await chat(bot);
    expect(app.upstream.requests[0]?.body.tools).toBeUndefined();
  });

  test('fails when its run time is over', async () => {
    const bot = await tenant.bot('limits { run_time 60ms }');
    app.upstream.script(async ({ say, closed }) => {
      say('Well');
      await closed;
    });
    const response = await tenant.chat(bot, { message: 'Hi' });
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({
      error: { code: 'model_timeout', message: 'The run exceeded its time limit.' },
    });
  });

  test('estimates tokens if the model server reports none, and marks the estimate', async () => {
    const bot = await tenant.bot();
    app.upstream.script(({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const choice = { delta: { content: 'Twelve chars' }, finish_reason: 'stop' };
      response.end(`data: ${JSON.stringify({ choices: [choice] })}\n\ndata: [DONE]\n\n`);
    });
    const { run_id: id, tokens_used } = await chat(bot);
    const run = await app.prisma.run.findUniqueOrThrow({ where: { id } });
    expect(run).toMatchObject({ completionTokens: 3, tokensEstimated: true });
    expect(tokens_used).toBe(run.promptTokens + 3);
  });
});

describe('the memory tools', () => {
  test('store and delete the declared facts of this user for later conversations', async () => {
    const bot = await tenant.bot('memory {\n    name "What to call them"\n    city\n  }');
    scripts(({ call }) => call(['memory_save', { name: 'name', value: 'Ada' }]), finish);
    await chat(bot);
    scripts(finish);
    await chat(bot);
    expect(lastMessages()[0]?.content).toContain('<memory>\n{"name":"Ada"}\n</memory>');
    await chat(bot, 'Hi', 'another-user');
    expect(lastMessages()[0]?.content).not.toContain('Ada');
    scripts(({ call }) => call(['memory_forget', { name: 'name' }]), finish);
    await chat(bot);
    scripts(finish);
    await chat(bot);
    expect(lastMessages()[0]?.content).toBe('You are a test.');
  });

  test('accept only declared facts', async () => {
    const bot = await tenant.bot('memory { name "What to call them" }');
    scripts(
      ({ call }) =>
        call(
          ['memory_save', { name: 'password', value: 'x' }],
          ['memory_save', { name: 'name' }],
          ['memory_forget', { name: 'city' }],
        ),
      finish,
    );
    await chat(bot);
    for (const answer of toolResults()) expect(answer).toMatch(/^Error: The input is not valid\./);
    const [save] = app.upstream.requests[0]?.body.tools ?? [];
    expect(save?.function.parameters).toMatchObject({
      properties: { name: { enum: ['name'], description: 'name: What to call them' } },
      required: ['name', 'value'],
    });
  });

  test('are not offered if no facts are declared', async () => {
    const bot = await tenant.bot();
    scripts(finish);
    await chat(bot);
    expect(app.upstream.requests[0]?.body.tools).toBeUndefined();
  });
});
