import { beforeAll, describe, expect, inject, test } from 'vitest';
import { agent, startApp, type TestApp } from '../../helpers/app.ts';
import { atTheEnd } from '../../helpers/at-the-end.ts';
import { linkRedis } from '../../helpers/redis.ts';
import { type Site, startSite } from '../../helpers/site.ts';
import type { FakeBot } from '../../helpers/telegram.ts';
import { deploy, PUBLIC_URL, startTelegramApp, type TelegramApp } from './setup.ts';

let site: Site;
let at: TelegramApp;
/** Another replica of the same installation. */
let replica: TestApp;

beforeAll(async () => {
  site = await startSite();
  atTheEnd(site.close);
  const link = async () => (inject('redisUrl') ? (await linkRedis()).redis : undefined);
  at = await startTelegramApp({ redis: await link(), allowedHosts: [site.host] });
  const telegram = { apiRoot: at.telegram.apiRoot };
  const more = { publicUrl: PUBLIC_URL, telegram, allowedHosts: [site.host] };
  replica = await startApp({ ...more, redis: await link() });
  site.handle((_request, response) => response.end('Refunded.'));
  for (const { upstream } of [at.app, replica])
    upstream.script(({ request, call, say, end }) => {
      const last = request.body.messages.at(-1);
      if (last?.role === 'user' && last.content.startsWith('Refund'))
        return call(['orders_refund', { order_id: last.content }]);
      say('Said.');
      return end();
    });
});

/** Chats that no other test uses: 2 operators. */
const OPERATORS = [4711, -1_001_234_567_890] as const;

/** A bot whose tool asks both chats. */
const asking = async (approvers = `"${OPERATORS.join(', ')}"`) => {
  const bot = at.telegram.bot();
  const botId = await at.tenant.bot(null);
  const source = agent(`channel telegram { token env.TOKEN approvers ${approvers} }
  tools orders {
    capability refund "Refunds an order." {
      input { order_id string }
      approval "A refund is paid out at once."
      post "${site.origin}/refunds"
    }
  }`);
  await deploy(at.tenant, botId, bot.token, { source });
  return { bot, botId };
};

/** Lets an end user of the API ask for a refund. @returns the approval. */
const ask = async (botId: string, message = 'Refund <A-1>') => {
  const answer = await at.tenant.chat(botId, { message }, { 'X-Session-ID': 'ada' });
  const { run_id: runId } = await answer.json();
  return at.app.prisma.approval.findFirstOrThrow({ where: { runId } });
};

const last = (bot: FakeBot, chat: number) => bot.chat(chat).at(-1);

const shows = (bot: FakeBot, chat: number, text: string | RegExp) =>
  expect.poll(() => last(bot, chat)?.text, { timeout: 60_000 }).toMatch(text);

const statusOf = async (id: string) =>
  (await at.app.prisma.approval.findUniqueOrThrow({ where: { id } })).status;

const DENY = 'mutation ($id: ID!) { decideApproval(id: $id, decision: DENY) { id } }';

describe('the chats that a definition names as approvers', () => {
  test('get the request with two buttons, and a press decides once, on any replica', async () => {
    const { bot, botId } = await asking();
    const { id } = await ask(botId);
    for (const chat of OPERATORS) await shows(bot, chat, /Expires:/);
    const { text, buttons } = last(bot, OPERATORS[0]) ?? { text: '', buttons: [] };
    expect(text).toContain('Approval: orders.refund\nA refund is paid out at once.\n');
    expect(text).toContain(`POST ${site.origin}/refunds with {"order_id":"Refund <A-1>"}\n`);
    expect(text).toContain('User: ada\n');
    expect(buttons.map((one) => one.text)).toEqual(['Approve', 'Deny']);
    for (const { data } of buttons) expect(Buffer.byteLength(data)).toBeLessThanOrEqual(64);

    const press = bot.press(OPERATORS[0], 'Approve');
    await Promise.all([at.app.url, replica.url].map((url) => bot.deliver(url, press)));
    await shows(bot, OPERATORS[0], /Approved in this chat, /);
    await shows(bot, OPERATORS[1], /Approved in the chat 4711, /);
    expect(OPERATORS.flatMap((chat) => last(bot, chat)?.buttons)).toEqual([]);
    expect(OPERATORS.map((chat) => bot.chat(chat).length)).toEqual([1, 1]);
    await expect.poll(() => bot.calls('answerCallbackQuery').length).toBe(1);
    expect(bot.calls('answerCallbackQuery')[0]?.body.text).toBe('Approved.');
    const stored = await at.app.prisma.approval.findUniqueOrThrow({ where: { id } });
    expect(stored).toMatchObject({ status: 'APPROVED', decidedById: null, decidedInChat: 4711n });
    const audit = await at.app.prisma.auditEntry.findMany({ where: { targetId: id } });
    expect(audit.map(({ action }) => action).sort()).toEqual(['APPROVE_CALL', 'ASK_APPROVAL']);
    await expect
      .poll(() => site.requests.filter(({ headers }) => headers['idempotency-key'] === id).length)
      .toBe(1);
  });

  test('see a decision that was made elsewhere, and a late press says so', async () => {
    const { bot, botId } = await asking();
    const { id } = await ask(botId);
    for (const chat of OPERATORS) await shows(bot, chat, /Expires:/);
    const late = bot.press(OPERATORS[1], 'Approve');
    await at.tenant.graphql(DENY, { id });
    for (const chat of OPERATORS) await shows(bot, chat, /Denied by an API key, /);
    await bot.deliver(replica.url, late);
    await expect.poll(() => bot.calls('answerCallbackQuery').length).toBe(1);
    expect(bot.calls('answerCallbackQuery')[0]?.body.text).toMatch(/^The call was denied at /);
    expect(await statusOf(id)).toBe('DENIED');
  });

  test('see the expiry', async () => {
    const { bot, botId } = await asking();
    const { id } = await ask(botId);
    await shows(bot, OPERATORS[0], /Expires:/);
    await at.app.prisma.approval.update({ where: { id }, data: { expiresAt: new Date(0) } });
    for (const chat of OPERATORS) await shows(bot, chat, /Expired\. It was not sent\.$/);
  });

  test('are the only ones that decide: a forged button and another chat decide nothing', async () => {
    const { bot, botId } = await asking('"4711"');
    const { id } = await ask(botId);
    await shows(bot, 4711, /Expires:/);
    const data = last(bot, 4711)?.buttons[0]?.data ?? '';
    const forged = [
      bot.press(4712, 'Approve', data),
      bot.press(4711, 'Approve', data.replace(/^a/, 'd')),
      bot.press(4711, 'Approve', `${data.slice(0, -1)}${data.endsWith('A') ? 'Q' : 'A'}`),
      bot.press(4711, 'Approve', 'x'),
    ];
    for (const press of forged) await bot.deliver(at.app.url, press);
    const answers = () => bot.calls('answerCallbackQuery').map(({ body }) => body.text);
    await expect.poll(answers).toEqual(forged.map(() => 'This button decides nothing.'));
    expect(await statusOf(id)).toBe('WAITING');
    await bot.deliver(at.app.url, bot.press(4711, 'Deny'));
    await shows(bot, 4711, /Denied in this chat, /);
  });

  test('come from a variable, too; and a failure of Telegram delays the message', async () => {
    const bot = at.telegram.bot();
    const botId = await at.tenant.bot(null);
    let refusals = 1;
    at.telegram.script(({ token, method }) => {
      if (token !== bot.token || method !== 'sendMessage' || refusals === 0) return undefined;
      refusals -= 1;
      return { code: 502 };
    });
    const source = agent(`channel telegram { token env.TOKEN approvers env.OPS }
  tools orders {
    capability refund "Refunds an order." {
      input { order_id string }
      approval
      post "${site.origin}/refunds"
    }
  }`);
    const { errors } = await at.tenant.graphql(
      `mutation ($bot: ID!, $source: String!, $token: String!) {
        deploy(botId: $bot, input: { source: $source, envVars: [
          { name: "TOKEN", value: $token }, { name: "OPS", value: "4711, 4712" }
        ] }) { status } }`,
      { bot: botId, source, token: bot.token },
    );
    expect(errors).toBeUndefined();
    await ask(botId);
    for (const chat of [4711, 4712]) await shows(bot, chat, /Expires:/);
    expect([4711, 4712].map((chat) => bot.chat(chat).length)).toEqual([1, 1]);
  });

  test.each([
    ['', 'expected chat ids separated by commas, such as "4711, -1001234567890"'],
    ['4711, @ops', 'expected chat ids separated by commas, such as "4711, -1001234567890"'],
    [Array.from({ length: 33 }, (_, index) => index + 1).join(), 'expected at most 32 chat ids'],
  ])('are a warning of the deploy if their variable is %j', async (value, problem) => {
    const bot = at.telegram.bot();
    const botId = await at.tenant.bot(null);
    const { data } = await at.tenant.graphql(
      `mutation ($bot: ID!, $source: String!, $token: String!, $value: String!) {
        deploy(botId: $bot, input: { source: $source, envVars: [
          { name: "TOKEN", value: $token }, { name: "OPS", value: $value }
        ] }) { status diagnostics { severity code message } } }`,
      {
        bot: botId,
        source: agent('channel telegram { token env.TOKEN approvers env.OPS }'),
        token: bot.token,
        value,
      },
    );
    const message = `nobody can decide about tool calls in Telegram: env.OPS: ${problem}`;
    expect(data.deploy).toEqual({
      status: 'DEPLOYED',
      diagnostics: [{ severity: 'WARNING', code: 'invalid-chat', message }],
    });
  });
});
