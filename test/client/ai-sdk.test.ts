import {
  AbstractChat,
  type ChatState,
  type ChatStatus,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
} from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ParleyChatTransport } from '../../src/client/ai-sdk.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { type Site, startSite } from '../helpers/site.ts';
import { hello, replyInTwoParts } from '../helpers/upstream.ts';
import { startUnreliableProxy } from './unreliable-proxy.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
let site: Site;
beforeAll(async () => {
  site = await startSite();
  app = await startApp({ allowedHosts: [site.host] });
});
afterAll(() => site.close());
beforeEach(async () => {
  app.upstream.script(hello);
  tenant = await app.tenant();
  bot = await tenant.bot();
});

async function tokenFor(sessionId: string, botId = bot): Promise<string> {
  const { data } = await tenant.graphql(
    'mutation ($input: CreateSessionTokenInput!) { createSessionToken(input: $input) { token } }',
    { input: { botId, sessionId, expiresIn: 900, allowContext: true } },
  );
  return data.createSessionToken.token;
}

const transportOf = async (sessionId: string, options: object = {}) =>
  new ParleyChatTransport({
    baseUrl: app.url,
    bot,
    token: await tokenFor(sessionId),
    ...options,
  });

const userMessage = (text: string): UIMessage => ({
  id: 'm1',
  role: 'user',
  parts: [{ type: 'text', text }],
});

const send = (transport: ParleyChatTransport, text: string, abortSignal?: AbortSignal) =>
  transport.sendMessages({
    trigger: 'submit-message',
    chatId: 'chat',
    messageId: undefined,
    messages: [userMessage('an older one'), userMessage(text)],
    abortSignal,
  });

/** A `fetch` that records the answers to the requests after an abort. */
function recordAfter(signal: AbortSignal) {
  const answers: string[] = [];
  const recorded: typeof fetch = async (...request) => {
    const isLater = signal.aborted;
    const response = await fetch(...request);
    if (isLater) answers.push(await response.clone().text());
    return response;
  };
  return { answers, fetch: recorded };
}

const reconnect = (transport: ParleyChatTransport) =>
  transport.reconnectToStream({ chatId: 'chat' });

/** The messages of a chat without React. */
class PlainState implements ChatState<UIMessage> {
  status: ChatStatus = 'ready';
  error: Error | undefined = undefined;
  messages: UIMessage[];
  constructor(messages: UIMessage[]) {
    this.messages = messages;
  }
  pushMessage = (message: UIMessage) => {
    this.messages = [...this.messages, message];
  };
  popMessage = () => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index: number, message: UIMessage) => {
    this.messages = this.messages.with(index, structuredClone(message));
  };
  snapshot = <Thing>(thing: Thing): Thing => structuredClone(thing);
}

/** The chat that `useChat` wraps. */
class PlainChat extends AbstractChat<UIMessage> {
  constructor(transport: ParleyChatTransport, messages: UIMessage[] = []) {
    super({ transport, state: new PlainState(messages) });
  }
}

const textsOf = ({ messages }: { messages: UIMessage[] }) =>
  messages.map(({ role, parts }) => [
    role,
    parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
  ]);

describe('a message', () => {
  test('is sent alone, and its reply arrives as chunks', async () => {
    const transport = await transportOf('user-1', { context: { plan: 'pro' } });
    const chunks = await Array.fromAsync(await send(transport, 'Hi'));
    const run = await app.prisma.run.findFirstOrThrow({ where: { botId: bot } });
    expect(run).toMatchObject({ input: 'Hi', sessionId: 'user-1', context: { plan: 'pro' } });
    const metadata = { runId: run.id, sessionId: 'user-1' };
    const ended = { ...metadata, latencyMs: run.latencyMs };
    expect(chunks).toEqual([
      { type: 'start', messageId: run.id, messageMetadata: metadata },
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'Hello' },
      { type: 'text-delta', id: '1', delta: ' ' },
      { type: 'text-delta', id: '1', delta: 'there.' },
      { type: 'text-end', id: '1' },
      { type: 'data-parley-run', data: ended },
      {
        type: 'finish',
        finishReason: 'stop',
        messageMetadata: { ...ended, usage: { totalTokens: 15 } },
      },
    ]);
  });

  test("becomes a message of the AI SDK's chat, and the next one has the history", async () => {
    const chat = new PlainChat(await transportOf('user-1'));
    await chat.sendMessage({ text: 'Hi' });
    await chat.sendMessage({ text: 'Again' });
    expect(chat.status).toBe('ready');
    expect(textsOf(chat)).toEqual([
      ['user', 'Hi'],
      ['assistant', 'Hello there.'],
      ['user', 'Again'],
      ['assistant', 'Hello there.'],
    ]);
    expect(chat.lastMessage).toMatchObject({
      id: expect.stringMatching(/^run_/),
      metadata: { usage: { totalTokens: 15 } },
    });
    const { messages } = app.upstream.requests.at(-1)?.body ?? {};
    expect(messages?.slice(1).map(({ content }) => content)).toEqual([
      'Hi',
      'Hello there.',
      'Again',
    ]);
  });

  test('is sent with an API key on a server, with the texts of its tool calls', async () => {
    const acting = await actingBot();
    site.handle((_request, response) => void response.end('{"sum":42}'));
    const message = await answerOf(acting);
    expect(message?.parts).toMatchObject([
      { type: 'text', text: 'One moment.', state: 'done' },
      {
        type: 'dynamic-tool',
        toolName: 'shop.total',
        state: 'output-available',
        input: { item: 'a' },
        output: expect.stringContaining('42'),
        providerExecuted: true,
      },
      { type: 'text', text: 'It is done.', state: 'done' },
      { type: 'data-parley-run' },
    ]);
  });

  test('shows a failed tool call', async () => {
    const acting = await actingBot();
    site.handle((_request, response) => void response.writeHead(404).end('none'));
    expect((await answerOf(acting))?.parts[1]).toMatchObject({
      state: 'output-error',
      errorText: expect.stringContaining('404'),
    });
  });

  test('shows a tool call that waits for a person', async () => {
    const acting = await actingBot('approval "Costs money."');
    expect((await answerOf(acting))?.parts[1]).toMatchObject({
      state: 'approval-requested',
      approval: { id: expect.any(String) },
    });
  });

  test('shows a page no texts of tool calls', async () => {
    const acting = await actingBot();
    site.handle((_request, response) => void response.end('{"sum":42}'));
    const token = await tokenFor('user-1', acting);
    const chunks = await Array.fromAsync(
      await send(new ParleyChatTransport({ baseUrl: app.url, bot: acting, token }), 'Sum?'),
    );
    const ofTool = chunks.filter(({ type }) => type.startsWith('tool-'));
    expect(ofTool).toMatchObject([
      { type: 'tool-input-available', toolName: 'shop.total', input: {} },
      { type: 'tool-output-available', output: null },
    ]);
  });

  /** A bot that calls a tool, and then answers. */
  async function actingBot(approval = ''): Promise<string> {
    app.upstream.script(({ request, call, say, end }) => {
      if (request.body.messages.at(-1)?.role === 'tool') {
        say('It is done.');
        return end();
      }
      say('One moment.');
      call(['shop_total', { item: 'a' }]);
    });
    return tenant.bot(`tools shop {
      capability total "The total" {
        input { item string }
        ${approval}
        post "${site.origin}/total"
      }
    }`);
  }

  async function answerOf(botId: string): Promise<UIMessage | undefined> {
    const stream = await send(
      new ParleyChatTransport({
        baseUrl: `${app.url}/`,
        bot: botId,
        token: async () => tenant.apiKey,
        sessionId: 'user-2',
      }),
      'Sum?',
    );
    return (await Array.fromAsync(readUIMessageStream({ stream }))).at(-1);
  }
});

describe('a reply', () => {
  const statuses = async () =>
    (await app.prisma.run.findMany({ where: { botId: bot } })).map(({ status }) => status);

  test('continues across lost connections, and the message runs once', async () => {
    let connections = 0;
    const proxy = await startUnreliableProxy(app.url, () => {
      connections += 1;
      return connections > 5 ? {} : { cutAfter: 700 };
    });
    const words = Array.from({ length: 60 }, (_, index) => `word${index} `);
    app.upstream.script(({ say, end }) => {
      for (const word of words) say(word);
      end();
    });
    const chat = new PlainChat(await transportOf('user-1', { baseUrl: proxy.url }));
    await chat.sendMessage({ text: 'Hi' });
    expect(textsOf(chat).at(-1)).toEqual(['assistant', words.join('')]);
    expect(proxy.faults()).toBe(5);
    expect(await statuses()).toEqual(['COMPLETED']);
  });

  test('is cancelled by stop(), and keeps its text', async () => {
    replyInTwoParts(app.upstream);
    const chat = new PlainChat(await transportOf('user-1'));
    const sent = chat.sendMessage({ text: 'Hi' });
    await expect.poll(() => textsOf(chat).at(-1)).toEqual(['assistant', 'The first part']);
    await chat.stop();
    await sent;
    expect(chat.status).toBe('ready');
    await expect.poll(statuses).toEqual(['CANCELLED']);
  });

  test('is cancelled also before its first event', async () => {
    replyInTwoParts(app.upstream);
    const stop = new AbortController();
    const transport = await transportOf('user-1', {
      fetch: async (...[url, init]: Parameters<typeof fetch>) => {
        if (stop.signal.aborted) return fetch(url, init);
        // The server begins the run, but its response is lost.
        await fetch(url, { ...init, signal: null });
        stop.abort();
        throw stop.signal.reason;
      },
    });
    const chunks = await send(transport, 'Hi', stop.signal);
    expect(await Array.fromAsync(chunks)).toEqual([{ type: 'abort' }]);
    await expect.poll(statuses).toEqual(['CANCELLED']);
  });

  test('is never begun for a message that is stopped while it waits', async () => {
    const proceed = Promise.withResolvers<void>();
    app.upstream.script(async ({ request, say, end, closed }) => {
      const isFirst = request.body.messages.at(-1)?.content === 'First';
      say('The first part');
      await (isFirst ? proceed.promise : closed);
      end();
    });
    const first = await send(await transportOf('user-1'), 'First');
    await expect.poll(statuses).toEqual(['RUNNING']);
    const stop = new AbortController();
    const { answers, fetch: recorded } = recordAfter(stop.signal);
    const transport = await transportOf('user-1', { fetch: recorded });
    const waiting = await send(transport, 'Second', stop.signal);
    await expect.poll(() => app.waiting()).toBe(1);
    stop.abort();
    expect(await Array.fromAsync(waiting)).toEqual([{ type: 'abort' }]);
    await expect.poll(() => answers).toEqual([expect.stringContaining('RUN_NOT_FOUND')]);
    proceed.resolve();
    await Array.fromAsync(first);
    expect(await statuses()).toEqual(['COMPLETED']);
  });

  test('is not sent again when it is aborted before it reached the server', async () => {
    const stop = new AbortController();
    const { answers, fetch: recorded } = recordAfter(stop.signal);
    const transport = await transportOf('user-1', {
      fetch: (...request: Parameters<typeof fetch>) => {
        if (stop.signal.aborted) return recorded(...request);
        stop.abort();
        throw stop.signal.reason;
      },
    });
    const chunks = await send(transport, 'Hi', stop.signal);
    expect(await Array.fromAsync(chunks)).toEqual([{ type: 'abort' }]);
    await expect.poll(() => answers).toEqual([expect.stringContaining('RUN_NOT_FOUND')]);
    expect(await statuses()).toEqual([]);
  });

  test('continues when its page closes, and after a reload from its beginning', async () => {
    const proceed = replyInTwoParts(app.upstream);
    const before = (await send(await transportOf('user-1'), 'Hi')).getReader();
    const seen: UIMessageChunk['type'][] = [];
    while (!seen.includes('text-delta')) seen.push((await before.read()).value?.type ?? 'abort');
    await before.cancel();

    const transport = await transportOf('user-1');
    const chat = new PlainChat(transport, await transport.loadMessages());
    expect(textsOf(chat)).toEqual([['user', 'Hi']]);
    const resumed = chat.resumeStream();
    await expect.poll(() => textsOf(chat).at(-1)).toEqual(['assistant', 'The first part']);
    const tab = new PlainChat(transport, await transport.loadMessages());
    const other = tab.resumeStream();
    await expect.poll(() => textsOf(tab).at(-1)).toEqual(['assistant', 'The first part']);
    proceed();
    await Promise.all([resumed, other]);
    for (const one of [chat, tab])
      expect(textsOf(one)).toEqual([
        ['user', 'Hi'],
        ['assistant', 'The first part and the second.'],
      ]);
    expect(textsOf({ messages: await transport.loadMessages() })).toEqual(textsOf(chat));
    expect(await statuses()).toEqual(['COMPLETED']);
  });

  test('that does not run cannot be continued', async () => {
    const transport = await transportOf('user-1');
    expect(await transport.loadMessages()).toEqual([]);
    expect(await reconnect(transport)).toBeNull();
    await Array.fromAsync(await send(transport, 'Hi'));
    expect(await reconnect(transport)).toBeNull();
  });

  test('of a staging deployment is read in its environment', async () => {
    bot = await tenant.bot('', 'STAGING');
    const transport = new ParleyChatTransport({
      baseUrl: app.url,
      bot,
      token: tenant.apiKey,
      sessionId: 'user-1',
      environment: 'staging',
    });
    await Array.fromAsync(await send(transport, 'Hi'));
    expect(textsOf({ messages: await transport.loadMessages() })).toEqual([
      ['user', 'Hi'],
      ['assistant', 'Hello there.'],
    ]);
  });
});

describe('an error', () => {
  test('of the run is the error of the chat, and the message can be sent again', async () => {
    app.upstream.script(({ response }) => void response.writeHead(401).end('{}'));
    const chat = new PlainChat(await transportOf('user-1'));
    await chat.sendMessage({ text: 'Hi' });
    expect(chat.status).toBe('error');
    const run = await app.prisma.run.findFirstOrThrow({ where: { botId: bot } });
    expect(chat.error?.message).toBe(run.errorMessage);
    app.upstream.script(hello);
    await chat.regenerate();
    expect(textsOf(chat)).toEqual([
      ['user', 'Hi'],
      ['assistant', 'Hello there.'],
    ]);
  });

  test.each<[string, (botId: string) => Promise<object>, string, string]>([
    ['a wrong token', async () => ({ token: 'no.such.token' }), 'invalid_api_key', 'token'],
    ['another bot', async (botId) => ({ bot: botId }), 'bot_access_denied', 'no access'],
    ['another session', async () => ({ sessionId: 'user-2' }), 'insufficient_scope', 'session'],
  ])('of %s has the code and the sentence of the server', async (_what, options, code, text) => {
    const transport = await transportOf('user-1', await options(await tenant.bot()));
    const reading = send(transport, 'Hi').then((stream) => Array.fromAsync(stream));
    await expect(reading).rejects.toMatchObject({
      name: 'ParleyError',
      code,
      message: expect.stringContaining(text),
    });
    await expect(reconnect(transport)).rejects.toMatchObject({ code });
  });

  test('of a message without a text is the error of the server', async () => {
    const chat = new PlainChat(await transportOf('user-1'));
    await chat.sendMessage({ files: [{ type: 'file', mediaType: 'image/png', url: 'data:,' }] });
    expect(chat.error?.message).toContain('must not be empty');
  });

  test('of an unreachable server comes after three more requests', async () => {
    let requests = 0;
    const transport = await transportOf('user-1', {
      fetch: async () => {
        requests += 1;
        throw new TypeError('no network');
      },
    });
    const reading = send(transport, 'Hi').then((stream) => Array.fromAsync(stream));
    await expect(reading).rejects.toMatchObject({ code: 'connection_error' });
    expect(requests).toBe(4);
  });
});

test('a session token reads only the running reply of its own conversation', async () => {
  const proceed = replyInTwoParts(app.upstream);
  const reading = await send(await transportOf('user-1'), 'My secret');
  await expect
    .poll(() => app.prisma.run.count({ where: { botId: bot, status: 'RUNNING' } }))
    .toBe(1);
  const other = await transportOf('user-2');
  expect(await reconnect(other)).toBeNull();
  expect(await other.loadMessages()).toEqual([]);
  const answer = await app.graphql(
    await tokenFor('user-2'),
    'query ($bot: ID!) { bot(id: $bot) { session(id: "user-1") { activeRun { id input } } } }',
    { bot },
  );
  expect(answer.errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
  expect(JSON.stringify(answer)).not.toContain('My secret');
  proceed();
  await Array.fromAsync(reading);
});
