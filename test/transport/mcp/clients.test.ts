import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { connectNewer, connectOlder, type McpClient } from '../../helpers/mcp-clients.ts';
import { hello, replyInTwoParts } from '../../helpers/upstream.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});

const RUN_ID = /^run_\w+$/;

describe.each([
  ['a client of the version 2026-07-28', connectNewer, '2026-07-28'],
  ['a client of a version with sessions', connectOlder, '2025-11-25'],
])('%s', (_who, connect, version) => {
  let tenant: Tenant;
  let bot: string;
  let client: McpClient;
  beforeEach(async () => {
    app.upstream.script(hello);
    tenant = await app.tenant();
    bot = await tenant.bot();
    client = await connect(app.url, { headers: tenant.headers });
  });

  test('negotiates its version', () => {
    expect(client.version()).toBe(version);
  });

  test('lists one tool for each deployed bot of the key', async () => {
    const notDeployed = await tenant.bot(null);
    const staging = await tenant.bot('', 'STAGING');
    const { tools, nextCursor } = await client.listTools();
    expect(tools).toEqual([
      {
        name: bot,
        title: 'Bot',
        description: 'A test.',
        inputSchema: expect.objectContaining({ type: 'object', required: ['message'] }),
        outputSchema: expect.objectContaining({ required: ['response', 'session_id', 'run_id'] }),
        annotations: { readOnlyHint: true, openWorldHint: true },
      },
    ]);
    expect(nextCursor).toBeUndefined();
    expect(JSON.stringify(tools)).not.toMatch(new RegExp(`${notDeployed}|${staging}`));
  });

  test('describes what a bot returns, and whether it changes something', async () => {
    const structured = await tenant.bot(`
      output { city string "The city" }
      tools shop {
        capability order "Order an item" {
          input { item string }
          post "https://shop.example/orders"
        }
      }`);
    const { tools } = await client.listTools();
    const tool = tools.find(({ name }) => name === structured);
    expect(tool).toMatchObject({
      annotations: { readOnlyHint: false, openWorldHint: true },
      outputSchema: {
        properties: {
          output: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      },
    });
  });

  test('calls a bot, and continues the conversation', async () => {
    const first = await client.call(bot, { message: 'Hi', context: { plan: 'pro' } });
    expect(first).toMatchObject({
      content: [{ type: 'text', text: 'Hello there.' }, { type: 'text' }],
      structuredContent: { response: 'Hello there.', run_id: expect.stringMatching(RUN_ID) },
    });
    const { session_id } = first.structuredContent as { session_id: string };
    await client.call(bot, { message: 'Again', session_id });
    const { messages } = app.upstream.requests.at(-1)?.body ?? {};
    expect(messages?.map(({ role, content }) => role === 'system' || content)).toEqual([
      true,
      'Hi',
      'Hello there.',
      'Again',
    ]);
    const [run] = await app.prisma.run.findMany({ where: { botId: bot } });
    expect(run).toMatchObject({ channel: 'API', kind: 'CHAT', status: 'COMPLETED' });
  });

  test('receives a structured reply, also with progress', async () => {
    const structured = await tenant.bot('output { city string }');
    app.upstream.script(({ say, end }) => {
      say('{"city":');
      say('"Ulm"}');
      end();
    });
    const onprogress = () => {};
    for (const options of [{}, { onprogress }]) {
      const { structuredContent } = await client.call(structured, { message: 'Where?' }, options);
      expect(structuredContent).toMatchObject({
        response: '{"city":"Ulm"}',
        output: { city: 'Ulm' },
      });
    }
  });

  test('receives the text so far as progress', async () => {
    const proceed = replyInTwoParts(app.upstream);
    const texts: unknown[] = [];
    const { structuredContent } = await client.call(
      bot,
      { message: 'Hi' },
      {
        onprogress: ({ message, progress }) => {
          texts.push(message);
          expect(progress).toBe(message?.length);
          proceed();
        },
      },
    );
    expect(texts).toEqual(['The first part', 'The first part and the second.']);
    expect(structuredContent).toMatchObject({ response: 'The first part and the second.' });
  });

  test('cancels the run by cancelling its call', async () => {
    const gone = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, closed }) => {
      say('The first part');
      await closed;
      gone.resolve();
    });
    const cancel = new AbortController();
    const call = client.call(
      bot,
      { message: 'Hi' },
      { signal: cancel.signal, onprogress: () => cancel.abort() },
    );
    await expect(call).rejects.toThrow();
    await gone.promise;
    await expect
      .poll(async () => (await app.prisma.run.findFirst({ where: { botId: bot } }))?.status)
      .toBe('CANCELLED');
  });

  test('receives an error of the run as a result with the id of the run', async () => {
    app.upstream.script(({ response }) => void response.writeHead(401).end('{}'));
    for (const options of [{}, { onprogress: () => {} }]) {
      const result = await client.call(bot, { message: 'Hi' }, options);
      const run = await app.prisma.run.findFirstOrThrow({
        where: { botId: bot },
        orderBy: { createdAt: 'desc' },
      });
      expect(result).toMatchObject({
        isError: true,
        content: [{ type: 'text', text: expect.stringContaining(`The run is ${run.id}.`) }],
        _meta: { 'parley/code': 'model_error', 'parley/run_id': run.id },
      });
      expect(result.structuredContent).toBeUndefined();
    }
  });

  test('receives every problem of its arguments at once, as a result', async () => {
    const result = await client.call(bot, { message: '', session_id: 'a b', context: 1, note: 1 });
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toMatch(
      /message: must not be empty.*session_id: must be 1 to 256.*context: must be an object.*note/,
    );
    expect(await app.prisma.run.count({ where: { botId: bot } })).toBe(0);
  });

  test('reads a run as a resource', async () => {
    const { structuredContent } = await client.call(bot, { message: 'Hi' });
    const { run_id } = structuredContent as { run_id: string };
    expect((await client.templates()).resourceTemplates).toMatchObject([
      { uriTemplate: 'parley://bots/{id}/runs/{run_id}' },
    ]);
    const uri = `parley://bots/${bot}/runs/${run_id}`;
    const { contents } = await client.read(uri);
    expect(contents).toEqual([{ uri, mimeType: 'application/json', text: expect.any(String) }]);
    const [{ text }] = contents as [{ text: string }];
    const read = await fetch(`${app.url}/v1/bots/${bot}/runs/${run_id}`, {
      headers: tenant.headers,
    });
    expect(JSON.parse(text)).toEqual(await read.json());
  });

  test('reaches only the bots that its address names', async () => {
    const other = await tenant.bot();
    const narrow = await connect(app.url, {
      headers: tenant.headers,
      query: `?bots=${other},none`,
    });
    expect((await narrow.listTools()).tools.map(({ name }) => name)).toEqual([other]);
    await expect(narrow.call(bot, { message: 'Hi' })).rejects.toThrow(`Unknown tool: "${bot}"`);
    const uri = `parley://bots/${bot}/runs/run_0`;
    await expect(narrow.read(uri)).rejects.toThrow('not found');
    await narrow.close();
  });

  test('reaches nothing of another account, and nothing beyond the restriction of its key', async () => {
    const other = await app.tenant();
    const theirs = await other.bot();
    const { run_id } = await (await other.chat(theirs, { message: 'Hi' })).json();
    const allowed = await tenant.bot();
    const key = await tenant.key({ scopes: ['CHAT', 'RUNS'], botIds: [allowed] });
    const restricted = await connect(app.url, { headers: { authorization: `Bearer ${key}` } });
    expect((await restricted.listTools()).tools.map(({ name }) => name)).toEqual([allowed]);
    for (const [who, name] of [
      [client, theirs],
      [client, 'none'],
      [restricted, theirs],
      [restricted, bot],
    ] as const) {
      await expect(who.call(name, { message: 'Hi' })).rejects.toThrow(`Unknown tool: "${name}"`);
      await expect(who.read(`parley://bots/${name}/runs/${run_id}`)).rejects.toThrow('not found');
    }
    await expect(client.read(`parley://bots/${bot}/runs/${run_id}`)).rejects.toThrow('not found');
    expect(await app.prisma.run.count({ where: { botId: theirs } })).toBe(1);
    await restricted.close();
  });

  test('without the scope RUNS, calls bots and reads no runs', async () => {
    const key = await tenant.key({ scopes: ['CHAT'] });
    const chatting = await connect(app.url, { headers: { authorization: `Bearer ${key}` } });
    const { structuredContent } = await chatting.call(bot, { message: 'Hi' });
    const { run_id } = structuredContent as { run_id: string };
    await expect(chatting.read(`parley://bots/${bot}/runs/${run_id}`)).rejects.toThrow('scope');
    await chatting.close();
  });
});
