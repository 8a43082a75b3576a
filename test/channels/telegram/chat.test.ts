import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { agent } from '../../helpers/app.ts';
import { hello } from '../../helpers/upstream.ts';
import { connectedBot, deploy, deployment, startTelegramApp, type TelegramApp } from './setup.ts';

let at: TelegramApp;
beforeAll(async () => {
  at = await startTelegramApp();
});
beforeEach(() => {
  at.telegram.script(() => undefined);
  at.app.upstream.script(hello);
});

/** Replies with the number of the user's messages in the conversation, and the last one. */
const count = () =>
  at.app.upstream.script(({ request, say, end }) => {
    const texts = request.body.messages.filter(({ role }) => role === 'user');
    say(`${texts.length}: ${texts.at(-1)?.content}`);
    end();
  });

const texts = (bot: { chat(id: number): { text: string }[] }, chatId = 42) =>
  bot.chat(chatId).map(({ text }) => text);
const runsOf = (botId: string) =>
  at.app.prisma.run.findMany({ where: { botId }, orderBy: { createdAt: 'asc' } });
const statusesOf = async (botId: string) => (await runsOf(botId)).map(({ status }) => status);
const groupOf = (id: number) => ({ chat: { id, type: 'supergroup', title: 'Group' } });

describe('a message in Telegram', () => {
  test('is a run of the channel in the session of its chat, and gets the reply of the agent', async () => {
    const { botId, bot } = await connectedBot(at);
    const response = await bot.deliver(at.app.url, bot.text('Hi'));
    expect(response.status).toBe(200);
    await expect.poll(() => texts(bot)).toEqual(['Hello there.']);
    // The reply may be complete before the end of its run is stored.
    await expect
      .poll(() => runsOf(botId))
      .toMatchObject([
        {
          channel: 'TELEGRAM',
          sessionId: 'telegram:42',
          input: 'Hi',
          status: 'COMPLETED',
          keyId: null,
        },
      ]);
    expect(bot.calls('sendChatAction')[0]?.body).toEqual({ chat_id: 42, action: 'typing' });
  });

  test('continues the conversation, of each chat by itself', async () => {
    const { bot } = await connectedBot(at);
    count();
    for (const text of ['one', 'two']) await bot.deliver(at.app.url, bot.text(text));
    await bot.deliver(at.app.url, bot.text('other', 43));
    await expect.poll(() => texts(bot)).toEqual(['1: one', '2: two']);
    await expect.poll(() => texts(bot, 43)).toEqual(['1: other']);
  });

  test('is answered once although it arrives three times, and although others arrive first', async () => {
    const { botId, bot } = await connectedBot(at);
    count();
    const [first, second] = [bot.text('one'), bot.text('two')];
    await Promise.all([first, first, first].map((update) => bot.deliver(at.app.url, update)));
    await expect.poll(() => texts(bot)).toEqual(['1: one']);
    await bot.deliver(at.app.url, second);
    await bot.deliver(at.app.url, first);
    await expect.poll(() => texts(bot)).toEqual(['1: one', '2: two']);
    expect(await runsOf(botId)).toHaveLength(2);
  });

  test('is answered in the order of its id, 50 at once in one chat', async () => {
    const { bot } = await connectedBot(at);
    count();
    const updates = Array.from({ length: 50 }, (_, index) => bot.text(`message ${index}.`));
    // The first must wait, so that all are there before the second is taken.
    const all = Promise.withResolvers<void>();
    at.telegram.script(({ method }) => (method === 'sendMessage' ? all.promise : undefined));
    const responses = await Promise.all(updates.map((update) => bot.deliver(at.app.url, update)));
    expect(responses.map(({ status }) => status)).toEqual(updates.map(() => 200));
    const takenOnes = () =>
      at.app.prisma.telegramUpdate.findMany({
        where: { telegramBotId: String(bot.id), attempts: { gt: 0 } },
      });
    await expect.poll(takenOnes).toHaveLength(1);
    const [taken] = await takenOnes();
    all.resolve();
    const places = () => texts(bot).flatMap((text) => /\d+(?=\.$)/.exec(text)?.[0] ?? []);
    await expect.poll(() => places().length).toBe(50);
    const order = places().map(Number);
    const first = Number(taken?.updateId) - (updates[0]?.update_id ?? 0);
    const rest = order.slice(1);
    expect(order[0]).toBe(first);
    expect(rest).toEqual(rest.toSorted((one, other) => one - other));
  });

  test('is answered in 50 chats at once', async () => {
    const { bot } = await connectedBot(at);
    const users = Array.from({ length: 50 }, (_, index) => 1_000 + index);
    await Promise.all(users.map((user) => bot.deliver(at.app.url, bot.text('Hi', user))));
    await expect
      .poll(() => users.filter((user) => texts(bot, user).join() === 'Hello there.').length)
      .toBe(50);
  });

  test('is answered after a failure of the model, of Telegram, and after a limit', async () => {
    const { bot } = await connectedBot(at);
    let failures = 0;
    at.app.upstream.script((exchange) => {
      failures += 1;
      if (failures === 1) return void exchange.response.writeHead(400).end('{}');
      return hello(exchange);
    });
    const refusals = [{ code: 500 }, { code: 429, retryAfter: 1 }];
    at.telegram.script(({ method }) => (method === 'sendMessage' ? refusals.shift() : undefined));
    await bot.deliver(at.app.url, bot.text('Hi'));
    await expect.poll(() => texts(bot)).toEqual(['Hello there.']);
    expect(refusals).toEqual([]);
  });

  test('is answered in the message that was begun if the model fails after its first words', async () => {
    const { botId, bot } = await connectedBot(at);
    at.app.upstream.script(async ({ say, cut }) => {
      say('Once upon');
      await expect.poll(() => texts(bot)).toEqual(['Once upon']);
      at.app.upstream.script(hello);
      cut();
    });
    await bot.deliver(at.app.url, bot.text('Hi'));
    await expect.poll(() => texts(bot)).toEqual(['Hello there.']);
    expect(bot.calls('sendMessage')).toHaveLength(1);
    await expect.poll(() => statusesOf(botId)).toEqual(['FAILED', 'COMPLETED']);
  });

  test('is answered in one message if the model fails before its first words are sent', async () => {
    const { botId, bot } = await connectedBot(at);
    at.app.upstream.script(({ say, cut }) => {
      at.app.upstream.script(hello);
      say('Once upon');
      cut();
    });
    await bot.deliver(at.app.url, bot.text('Hi'));
    await expect.poll(() => texts(bot).at(-1)).toBe('Hello there.');
    expect(bot.calls('sendMessage')).toHaveLength(1);
    await expect.poll(() => statusesOf(botId)).toEqual(['FAILED', 'COMPLETED']);
  });

  test.each(['##', '```', '>'])('is answered although the reply begins with %s', async (mark) => {
    const { bot, deploymentId } = await connectedBot(at);
    at.app.upstream.script(async ({ say, end }) => {
      say(mark);
      await expect.poll(() => bot.calls('sendMessage').length).toBeGreaterThan(0);
      say('\n\nThe end');
      end();
    });
    await bot.deliver(at.app.url, bot.text('Hi'));
    await expect.poll(() => texts(bot).join()).toContain('The end');
    expect((await deployment(at.tenant, deploymentId)).channelStates[0]?.problem).toBe(null);
  });

  test('is answered in plain text if Telegram does not accept the formatted one', async () => {
    const { bot } = await connectedBot(at);
    at.telegram.script(({ method, body }) =>
      method === 'sendMessage' && body.parse_mode
        ? { code: 400, description: 'Bad Request: something new' }
        : undefined,
    );
    await bot.deliver(at.app.url, bot.text('Hi'));
    await expect.poll(() => texts(bot)).toEqual(['Hello there.']);
  });

  test('gets an apology if the model fails three times', async () => {
    const { botId, bot } = await connectedBot(at);
    at.app.upstream.script(({ response }) => void response.writeHead(400).end('{}'));
    await bot.deliver(at.app.url, bot.text('Hi'));
    await expect.poll(() => texts(bot)).toEqual([expect.stringContaining('Sorry')]);
    expect(await statusesOf(botId)).toEqual(['FAILED', 'FAILED', 'FAILED']);
  });

  test('gets a long reply in several messages with valid code blocks', async () => {
    const { bot } = await connectedBot(at);
    const code = Array.from({ length: 450 }, (_, line) => `print(${line}, "<&>")`).join('\n');
    const prose = Array.from({ length: 40 }, (_, index) => `Paragraph ${index} of **words**.`);
    const reply = [...prose, `\`\`\`python\n${code}\n\`\`\``, ...prose].join('\n\n');
    expect(reply.length).toBeGreaterThan(10_000);
    at.app.upstream.script(({ say, end }) => {
      say(reply);
      end();
    });
    await bot.deliver(at.app.url, bot.text('Hi'));
    await expect.poll(() => texts(bot).join('\n')).toMatch(/Paragraph 39[\s\S]*Paragraph 39/);
    const messages = bot.chat(42);
    expect(messages.length).toBeGreaterThan(1);
    expect(messages.every(({ text }) => text.length <= 4_096)).toBe(true);
    const blocks = messages.flatMap(({ html }) => html.match(/<pre>[\s\S]*?<\/pre>/g) ?? []);
    const lines = blocks.join('\n').match(/print\(\d+/g);
    expect(lines).toHaveLength(450);
  });

  test('is answered with one sentence if it is not text, once for an album', async () => {
    const { botId, bot } = await connectedBot(at);
    for (const content of [{ voice: {} }, { sticker: {} }])
      await bot.deliver(at.app.url, bot.update(content));
    const photo = { photo: [], media_group_id: 'album' };
    for (const _ of [1, 2, 3]) await bot.deliver(at.app.url, bot.update(photo));
    await bot.deliver(at.app.url, bot.text('Hi'));
    await expect.poll(() => texts(bot).at(-1)).toBe('Hello there.');
    expect(texts(bot)).toEqual([
      ...Array.from({ length: 3 }, () => 'I understand only text. Please write your message.'),
      'Hello there.',
    ]);
    expect(await runsOf(botId)).toHaveLength(1);
  });
});

describe('a command in Telegram', () => {
  test('/start greets with the suggestions of the channel', async () => {
    const { bot } = await connectedBot(
      at,
      'channel web { welcome "Web <hi>" suggestions "a", "b" }',
    );
    await bot.deliver(at.app.url, bot.text('/start'));
    await expect
      .poll(() => bot.chat(42))
      .toMatchObject([{ text: 'Web <hi>', keyboard: ['a', 'b'] }]);
  });

  test('/start greets with the settings of channel telegram, and with the settings of channel web where it has none', async () => {
    const bot = at.telegram.bot();
    const botId = await at.tenant.bot(null);
    const web = 'channel web { welcome "Web" suggestions "a", "b" }';
    const start = async (settings: string) => {
      const source = agent(`channel telegram { token env.TOKEN ${settings} }\n  ${web}`);
      expect(await deploy(at.tenant, botId, bot.token, { source })).toMatchObject({
        status: 'DEPLOYED',
      });
      const before = bot.chat(42).length;
      await bot.deliver(at.app.url, bot.text('/start'));
      await expect.poll(() => bot.chat(42).length).toBe(before + 1);
      return bot.chat(42).at(-1);
    };
    expect(await start('welcome "Telegram" suggestions "c"')).toMatchObject({
      text: 'Telegram',
      keyboard: ['c'],
    });
    expect(await start('welcome "Telegram"')).toMatchObject({
      text: 'Telegram',
      keyboard: ['a', 'b'],
    });
    expect(await start('suggestions "c"')).toMatchObject({ text: 'Web', keyboard: ['c'] });
  });

  test('/start cuts a welcome and suggestions that were deployed before they had bounds', async () => {
    const { botId, bot } = await connectedBot(at, 'channel web { welcome "Hi" }');
    const { id, source } = await at.app.prisma.deployment.findFirstOrThrow({ where: { botId } });
    const list = Array.from({ length: 20 }, () => `"${'s'.repeat(300)}"`).join(', ');
    const web = `welcome "${'w'.repeat(20_000)}" suggestions ${list}`;
    const data = { source: source.replace('welcome "Hi"', web) };
    await at.app.prisma.deployment.update({ where: { id }, data });
    await at.tenant.graphql(
      'mutation ($bot: ID!, $id: ID!) { rollback(botId: $bot, deploymentId: $id) { id } }',
      { bot: botId, id },
    );
    await bot.deliver(at.app.url, bot.text('/start'));
    await expect
      .poll(() => bot.chat(42))
      .toMatchObject([
        { text: `${'w'.repeat(1_999)}…`, keyboard: Array(8).fill(`${'s'.repeat(199)}…`) },
      ]);
  });

  test('/start greets with a plain sentence if the definition has no welcome', async () => {
    const { bot } = await connectedBot(at);
    await bot.deliver(at.app.url, bot.text('/start'));
    await expect
      .poll(() => bot.chat(42))
      .toMatchObject([{ text: 'Hello! Send me a message.', keyboard: [] }]);
  });

  test('/new begins a new history, keeps the memory and the stored messages', async () => {
    const { botId, bot } = await connectedBot(at, 'memory { name }');
    count();
    await bot.deliver(at.app.url, bot.text('one'));
    await expect.poll(() => texts(bot)).toEqual(['1: one']);
    await at.tenant.graphql(
      `mutation { setMemory(botId: "${botId}", sessionId: "telegram:42", name: "name", value: "Ada") { id } }`,
    );
    for (const text of ['/new', 'two', 'three']) await bot.deliver(at.app.url, bot.text(text));
    await expect.poll(() => texts(bot).slice(2)).toEqual(['1: two', '2: three']);
    expect(at.app.upstream.requests.at(-1)?.body.messages[0]?.content).toContain('Ada');
    const messages = () => at.app.prisma.message.count({ where: { session: { botId } } });
    await expect.poll(messages).toBe(6);
  });

  test('/forget deletes the history and the memory, which the audit log notes without a key', async () => {
    const { botId, bot } = await connectedBot(at);
    count();
    for (const text of ['one', '/forget', 'two']) await bot.deliver(at.app.url, bot.text(text));
    await expect.poll(() => texts(bot).at(-1)).toBe('1: two');
    expect(await runsOf(botId)).toMatchObject([{ input: '' }, { input: 'two' }]);
    const where = { botId, action: 'FORGET_SESSION' } as const;
    expect(await at.app.prisma.auditEntry.findMany({ where })).toMatchObject([
      { accountId: at.tenant.accountId, keyId: null },
    ]);
  });

  test('/stop cancels the running reply, and the chat keeps its text so far', async () => {
    const { botId, bot } = await connectedBot(at);
    at.app.upstream.script(async ({ say, closed }) => {
      say('Once upon a time');
      await closed;
    });
    await bot.deliver(at.app.url, bot.text('A long story'));
    await expect.poll(() => texts(bot)).toEqual(['Once upon a time']);
    await bot.deliver(at.app.url, bot.text('/stop'));
    await expect.poll(() => texts(bot)).toEqual(['Once upon a time', 'Stopped.']);
    expect(await runsOf(botId)).toMatchObject([{ status: 'CANCELLED' }]);
    await bot.deliver(at.app.url, bot.text('/stop'));
    await expect.poll(() => texts(bot).at(-1)).toBe('There is nothing to stop.');
  });
});

describe('/stop in Telegram', () => {
  test('is answered as stopped although Telegram fails at the first answers', async () => {
    const { bot } = await connectedBot(at);
    at.app.upstream.script(async ({ say, closed }) => {
      say('Once upon a time');
      await closed;
    });
    await bot.deliver(at.app.url, bot.text('A long story'));
    await expect.poll(() => texts(bot)).toEqual(['Once upon a time']);
    const refusals = [{ code: 429, retryAfter: 1 }, { code: 500 }];
    at.telegram.script(({ method }) => (method === 'sendMessage' ? refusals.shift() : undefined));
    await bot.deliver(at.app.url, bot.text('/stop'));
    await expect.poll(() => texts(bot)).toEqual(['Once upon a time', 'Stopped.']);
    expect(refusals).toEqual([]);
  });
});

describe('a message in a group', () => {
  const GROUP = -100_123;
  const mention = (name: string) => ({
    text: `@${name} how are you?`,
    entities: [{ type: 'mention', offset: 0, length: name.length + 1 }],
  });

  test('is answered if it mentions the bot, replies to it or is a command, each person by itself', async () => {
    const { botId, bot } = await connectedBot(at);
    const reply = { text: 'And you?', reply_to_message: { from: { id: bot.id } } };
    const send = (message: object, user: number) =>
      bot.deliver(at.app.url, bot.update({ ...message, ...groupOf(GROUP) }, user));
    await send({ text: 'Nobody asked you' }, 1);
    await send({ text: '/start@other_bot' }, 1);
    await send({ text: '/unknown' }, 1);
    await send(mention('somebody'), 1);
    await send({ photo: [] }, 1);
    await send(mention(bot.name.toUpperCase()), 1);
    await send(reply, 2);
    await send({ text: `/start@${bot.name.toLowerCase()}` }, 3);
    await expect
      .poll(() => texts(bot, GROUP).toSorted())
      .toEqual(['Hello there.', 'Hello there.', 'Hello! Send me a message.']);
    const runs = await runsOf(botId);
    expect(runs.map(({ sessionId, input }) => `${sessionId} ${input}`).sort()).toEqual([
      `telegram:${GROUP}:1 how are you?`,
      `telegram:${GROUP}:2 And you?`,
    ]);
    const sent = bot.calls('sendMessage').map(({ body }) => body.reply_parameters?.message_id);
    expect(sent.every((id) => typeof id === 'number')).toBe(true);
  });
});

describe('a chat that has blocked the bot', () => {
  test('is counted on the state, until a message arrives from it; other chats go on', async () => {
    const { botId, bot, deploymentId } = await connectedBot(at);
    at.telegram.script(({ method, body }) =>
      method === 'sendMessage' && body.chat_id < 3
        ? body.chat_id === 1
          ? { code: 403, description: 'Forbidden: bot was blocked by the user' }
          : { code: 400, description: 'Bad Request: chat not found' }
        : undefined,
    );
    for (const user of [1, 2, 3]) await bot.deliver(at.app.url, bot.text('Hi', user));
    const problem = async () =>
      (await deployment(at.tenant, deploymentId)).channelStates[0]?.problem;
    await expect.poll(problem).toBe('2 chats have blocked the bot.');
    await expect.poll(() => texts(bot, 3)).toEqual(['Hello there.']);
    at.telegram.script(() => undefined);
    await bot.deliver(at.app.url, bot.text('I am back', 1));
    await expect.poll(problem).toBe('1 chat has blocked the bot.');
    await expect.poll(() => texts(bot, 1)).toEqual(['Hello there.']);
    const again = await deploy(at.tenant, botId, bot.token);
    expect(again.channelStates).toMatchObject([
      { status: 'CONNECTED', problem: '1 chat has blocked the bot.' },
    ]);
  });
});

describe('a chat for which Telegram does not accept the text', () => {
  test('is not counted as one that has blocked the bot', async () => {
    const { botId, bot, deploymentId } = await connectedBot(at);
    at.telegram.script(({ method }) =>
      method === 'sendMessage'
        ? { code: 400, description: 'Bad Request: message text is empty' }
        : undefined,
    );
    await bot.deliver(at.app.url, bot.text('Hi'));
    await expect
      .poll(() => at.app.prisma.telegramUpdate.findMany({ where: { botId } }))
      .toMatchObject([{ doneAt: expect.any(Date), attempts: 3 }]);
    const { channelStates } = await deployment(at.tenant, deploymentId);
    expect(channelStates).toMatchObject([{ status: 'CONNECTED', problem: null }]);
  });
});

describe('a token that is revoked', () => {
  test('takes the channel away with the reason, and causes no further calls', async () => {
    const { botId, bot, deploymentId } = await connectedBot(at);
    const update = bot.text('Hi');
    bot.revoke();
    await bot.deliver(at.app.url, update);
    await expect
      .poll(() => deployment(at.tenant, deploymentId))
      .toMatchObject({
        status: 'DEPLOYED',
        channels: [],
        channelStates: [{ status: 'UNAVAILABLE', problem: expect.stringContaining('BotFather') }],
      });
    // Its webhook is closed, and the update is kept.
    expect((await bot.deliver(at.app.url, update)).status).toBe(401);
    expect(await at.app.prisma.telegramUpdate.findMany({ where: { botId } })).toMatchObject([
      { doneAt: null },
    ]);
  });
});
