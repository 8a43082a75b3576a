import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeId } from '../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
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
    for (const delta of deltas) {
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`);
    }
    response.end('data: [DONE]\n\n');
  };
const calls = (text: string, more: object = {}) => ({
  tool_calls: [{ id: 'x', function: { name: 'time_now', arguments: text }, ...more }],
});

const chat = async (bot: string, message = 'Hi', sessionId = 's') => {
  const response = await tenant.chat(bot, { message }, { 'x-session-id': sessionId });
  expect(await response.json()).toMatchObject({ response: expect.any(String) });
  return response.headers.get('x-run-id') ?? '';
};
const sent = () => app.upstream.requests.at(-1)?.body.messages.slice(1) ?? [];
const rolesOf = () => sent().map(({ role }) => role);

describe('a later turn', () => {
  test('joins the messages of turns without a reply', async () => {
    const bot = await tenant.bot();
    scripts(streams({}), finish);
    await chat(bot, 'One');
    await chat(bot, 'Two');
    expect(sent()).toEqual([{ role: 'user', content: 'One\n\nTwo' }]);
    const session = await app.prisma.session.findFirstOrThrow({
      where: { botId: bot },
      include: { messages: { orderBy: [{ turn: 'asc' }, { position: 'asc' }] } },
    });
    expect(session.messages.map(({ text }) => text)).toEqual(['One', '', 'Two', 'Done.']);
  });

  test('never sends arguments that are no JSON object, and stores none', async () => {
    const bot = await tenant.bot('tools time');
    scripts(streams(calls('{"a": ')), finish);
    const id = await chat(bot);
    expect(sent()[1]).toMatchObject({
      content: null,
      tool_calls: [{ id: 'x', function: { name: 'time_now', arguments: '{}' } }],
    });
    expect(sent()[2]?.content).toBe('Error: The arguments are not valid JSON.');
    const [, stored] = await app.prisma.message.findMany({
      where: { runId: id },
      orderBy: { position: 'asc' },
    });
    expect(stored?.toolCalls).toEqual([{ id: 'x', name: 'time.now', arguments: '{}' }]);
  });

  test('works in a session that an earlier version stored', async () => {
    const bot = await tenant.bot('tools time');
    scripts(finish);
    const runId = await chat(bot);
    const { id: sessionKey } = await app.prisma.session.findFirstOrThrow({ where: { botId: bot } });
    const message = <More extends object>(turn: number, position: number, more: More) => ({
      id: makeId('msg'),
      sessionKey,
      runId,
      turn,
      position,
      text: '',
      ...more,
    });
    await app.prisma.message.createMany({
      data: [
        message(2, 0, { role: 'USER' as const, text: 'Broken' }),
        message(2, 1, {
          role: 'ASSISTANT' as const,
          toolCalls: [
            { id: 'call_0', name: 'time.now', arguments: '{"a": ' },
            { id: 'call_0', name: 'time.now', arguments: '{"a":1}{"a":2}' },
          ],
        }),
        message(2, 2, { role: 'TOOL' as const, text: 'Error: x', toolCallId: 'call_0' }),
        message(2, 3, { role: 'ASSISTANT' as const }),
        message(3, 0, { role: 'USER' as const, text: 'Cancelled' }),
        message(4, 0, { role: 'USER' as const, text: 'Silent' }),
        message(4, 1, { role: 'ASSISTANT' as const }),
      ],
    });
    await app.prisma.session.update({ where: { id: sessionKey }, data: { turns: 4 } });
    await chat(bot, 'Now?');
    const call = (id: string) => ({
      id,
      type: 'function',
      function: { name: 'time_now', arguments: '{}' },
    });
    expect(sent()).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Done.' },
      { role: 'user', content: 'Broken' },
      { role: 'assistant', content: null, tool_calls: [call('call_0'), call('call_0_2')] },
      { role: 'tool', content: 'Error: x', tool_call_id: 'call_0' },
      { role: 'tool', content: 'The call was interrupted.', tool_call_id: 'call_0_2' },
      { role: 'assistant', content: 'The turn ended without a reply.' },
      { role: 'user', content: 'Cancelled\n\nSilent\n\nNow?' },
    ]);
  });

  test('sends the unknown members of a call back unchanged, as the run did, but no reasoning', async () => {
    const bot = await tenant.bot('tools time');
    const extra_content = { google: { thought_signature: 'EjQKMgEMOdbH==' } };
    scripts(streams({ reasoning_content: 'Let me see.' }, calls('{}', { extra_content })), finish);
    const id = await chat(bot);
    expect(sent()[1]).toMatchObject({
      reasoning_content: 'Let me see.',
      tool_calls: [{ extra_content }],
    });
    await chat(bot, 'And now?');
    expect(rolesOf()).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
    expect(sent()[1]).toMatchObject({ tool_calls: [{ id: 'x', extra_content }] });
    expect(JSON.stringify(sent())).not.toContain('Let me see.');
    const run = await app.prisma.run.findUniqueOrThrow({ where: { id } });
    const stored = JSON.stringify(run.spans);
    expect(stored).toContain('"parley.response.reasoning_length":11');
    expect(stored).not.toContain('Let me see.');
  });

  test.each<[string, unknown]>([
    ['reasoning', 'Let me see.'],
    ['reasoning_details', [{ type: 'reasoning.text', text: 'Let me see.', index: 0 }]],
  ])('sends %s back in the same run, and not in later turns', async (member, value) => {
    const bot = await tenant.bot('tools time');
    scripts(streams({ [member]: value }, calls('{}')), finish);
    await chat(bot);
    expect(sent()[1]).toMatchObject({ [member]: value });
    await chat(bot, 'And now?');
    expect(sent()[1]).toMatchObject({ tool_calls: [{ id: 'x' }] });
    expect(sent()[1]).not.toHaveProperty(member);
  });

  test('sends back what a process of an earlier version stored, without the members', async () => {
    const bot = await tenant.bot('tools time');
    scripts(streams(calls('{}')), finish);
    const runId = await chat(bot);
    await app.prisma.message.updateMany({
      where: { runId, role: 'ASSISTANT' as const, position: 1 },
      data: { toolCalls: [{ id: 'x', name: 'time.now', arguments: '{}' }] },
    });
    await chat(bot, 'And now?');
    expect(sent()[1]?.tool_calls).toEqual([
      { id: 'x', type: 'function', function: { name: 'time_now', arguments: '{}' } },
    ]);
  });
});

test('a request that may no longer call tools still holds them', async () => {
  const bot = await tenant.bot('tools time\n  limits { tool_calls 1 }');
  scripts(streams(calls('{}')), finish);
  await chat(bot);
  const bodies = app.upstream.requests.map(({ body }) => body);
  expect(bodies.map(({ tools }) => tools?.length)).toEqual([1, 1]);
  expect(bodies.map(({ tool_choice: choice }) => choice)).toEqual([undefined, 'none']);
});

describe('a server that calls tools although the request allows none', () => {
  const members = 'tools time\n  limits { tool_calls 1 }';
  const run = async (bot: string, { chat } = tenant) => {
    const response = await chat(bot, { message: 'Hi' }, { 'x-session-id': 's' });
    const id = response.headers.get('x-run-id') ?? '';
    return { body: await response.json(), id };
  };

  test('fails the run', async () => {
    const bot = await tenant.bot(members);
    scripts(streams(calls('{}')));
    const { body, id } = await run(bot);
    expect(body.error).toMatchObject({
      code: 'model_error',
      message: 'The model called a tool although the request allowed no more tool calls.',
    });
    expect(await app.prisma.run.findUniqueOrThrow({ where: { id } })).toMatchObject({
      status: 'FAILED',
    });
    expect(app.upstream.requests).toHaveLength(2);
  });

  test('fails the run without tools, too', async () => {
    scripts(streams(calls('{}')));
    const { body } = await run(await tenant.bot());
    expect(body.error?.message).toMatch(/^The model called a tool/);
  });

  test('fails a structured reply, and does not ask for it again', async () => {
    const bot = await tenant.bot(`${members}\n  output { city string }`);
    scripts(streams(calls('{}')));
    expect((await run(bot)).body.error?.message).toMatch(/^The model called a tool/);
    expect(app.upstream.requests).toHaveLength(2);
  });

  test('completes the run with the text beside the call', async () => {
    const bot = await tenant.bot(members);
    scripts(streams(calls('{}')), streams({ content: 'Late.' }, calls('{}')));
    expect((await run(bot)).body).toMatchObject({ response: 'Late.' });
  });

  test('because it refuses tool_choice gets no tools, and completes the run', async () => {
    // The server remembers what each upstream refuses.
    const own = await startApp();
    const owner = await own.tenant();
    const bot = await owner.bot(members);
    own.upstream.script((exchange) => {
      const { body } = exchange.request;
      const { response } = exchange;
      if (body.tool_choice) {
        const error = { message: 'tool_choice is not supported', param: 'tool_choice' };
        response.writeHead(400).end(JSON.stringify({ error }));
      } else if (body.tools) streams(calls('{}'))(exchange);
      else finish(exchange);
    });
    expect((await run(bot, owner)).body).toMatchObject({ response: 'Done.' });
    expect(own.upstream.requests).toHaveLength(3);
    const again = await run(bot, owner);
    expect(again.body).toMatchObject({ response: 'Done.' });
    expect(own.upstream.requests).toHaveLength(5);
    const { spans } = await own.prisma.run.findUniqueOrThrow({ where: { id: again.id } });
    expect(JSON.stringify(spans)).toContain('"parley.request.left_out":["tool_choice"]');
  });
});

test('an image in an answer is noted in the trace', async () => {
  const bot = await tenant.bot();
  const content = [
    { type: 'text', text: 'A cat.' },
    { type: 'image_url', image_url: {} },
  ];
  scripts(streams({ content }));
  const run = await app.prisma.run.findUniqueOrThrow({ where: { id: await chat(bot) } });
  expect(run.response).toBe('A cat.');
  expect(JSON.stringify(run.spans)).toContain('"parley.response.parts_ignored":["image"]');
});
