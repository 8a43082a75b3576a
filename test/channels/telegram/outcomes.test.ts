import { beforeAll, describe, expect, inject, test } from 'vitest';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { atTheEnd } from '../../helpers/at-the-end.ts';
import { linkRedis } from '../../helpers/redis.ts';
import { type Site, startSite } from '../../helpers/site.ts';
import { connectedBot, PUBLIC_URL, startTelegramApp, type TelegramApp } from './setup.ts';

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
      say(last?.role === 'tool' ? 'A person must approve it.' : `Outcome: ${last?.content}`);
      return end();
    });
});

const refunds = () => `tools orders {
    capability refund "Refunds an order." {
      input { order_id string }
      approval "A refund is paid out at once."
      post "${site.origin}/refunds"
    }
  }`;

const DECIDE = `mutation ($id: ID!, $decision: ApprovalDecision!) {
  decideApproval(id: $id, decision: $decision) { id }
}`;

const waitingOf = (botId: string) =>
  at.app.prisma.approval.findMany({ where: { botId }, orderBy: { createdAt: 'asc' } });

const settled = (id: string) =>
  expect
    .poll(async () => (await at.app.prisma.approval.findUnique({ where: { id } }))?.settledAt, {
      timeout: 60_000,
    })
    .not.toBeNull();

describe('the outcome of an approval', () => {
  test('reaches the chat once, although it is asked, decided and told on different replicas', async () => {
    const { botId, bot } = await connectedBot(at, refunds());
    const texts = () => bot.chat(42).map(({ text }) => text);
    await bot.deliver(at.app.url, bot.text('Refund A-1'));
    await expect.poll(texts).toEqual(['A person must approve it.']);
    const [approval] = await waitingOf(botId);
    const { id } = approval ?? { id: '' };
    await replica.graphql(at.tenant.apiKey, DECIDE, { id, decision: 'APPROVE' });
    await settled(id);
    await expect.poll(() => texts().length, { timeout: 60_000 }).toBe(2);
    expect(texts()[1]).toMatch(/^Outcome: .* was approved by a person\. Its result: Refunded\./);
    // The next message of the user comes after it, and nothing is sent again.
    await bot.deliver(replica.url, bot.text('Thanks'));
    await expect.poll(() => texts().slice(2)).toEqual(['Outcome: Thanks']);
    expect(bot.calls('sendMessage')).toHaveLength(3);
    const replyTo = bot.calls('sendMessage').map(({ body }) => body.reply_parameters);
    expect(replyTo).toEqual([undefined, undefined, undefined]);
    // The row of the reply has forgotten its message, like a handled update.
    const rows = await at.app.prisma.telegramUpdate.findMany({
      where: { botId, updateId: { lt: 0 } },
      select: { message: true, attempts: true, sentIds: true },
    });
    expect(rows).toMatchObject([{ message: null, attempts: 1, sentIds: [expect.anything()] }]);
  });

  test('is sent again after a failure of Telegram, and is not repeated with the work of the decision', async () => {
    const { botId, bot } = await connectedBot(at, refunds());
    const texts = () => bot.chat(42).map(({ text }) => text);
    await bot.deliver(at.app.url, bot.text('Refund A-2'));
    await expect.poll(texts).toEqual(['A person must approve it.']);
    const [approval] = await waitingOf(botId);
    const { id } = approval ?? { id: '' };
    let refusals = 1;
    at.telegram.script(({ token, method }) => {
      if (token !== bot.token || method !== 'sendMessage' || refusals === 0) return undefined;
      refusals -= 1;
      return { code: 502 };
    });
    await at.tenant.graphql(DECIDE, { id, decision: 'DENY' });
    await settled(id);
    // As after a crash between the message and the end of the work.
    await at.app.prisma.approval.update({ where: { id }, data: { settledAt: null } });
    await settled(id);
    await expect.poll(() => texts().length, { timeout: 60_000 }).toBe(2);
    await bot.deliver(at.app.url, bot.text('And now?'));
    await expect.poll(() => texts().slice(2)).toEqual(['Outcome: And now?']);
    expect(texts()[1]).toContain('was denied by a person.');
    expect(bot.calls('sendMessage')).toHaveLength(4);
  });

  test('is in the topic of a forum in which the user wrote last', async () => {
    const { botId, bot } = await connectedBot(at, refunds());
    const group = { id: -100_42, type: 'supergroup' };
    const inTopic = (text: string, topic: number | undefined) =>
      bot.update({
        chat: group,
        text: `@${bot.name} ${text}`,
        entities: [{ type: 'mention', offset: 0, length: bot.name.length + 1 }],
        ...(topic && { is_topic_message: true, message_thread_id: topic }),
      });
    const topics = () => bot.calls('sendMessage').map(({ body }) => body.message_thread_id);
    for (const topic of [9, undefined, 12]) await bot.deliver(at.app.url, inTopic('Hello', topic));
    await expect.poll(topics, { timeout: 60_000 }).toEqual([9, undefined, 12]);
    await bot.deliver(at.app.url, inTopic('Refund', 12));
    await expect.poll(() => topics().length, { timeout: 60_000 }).toBe(4);
    const [approval] = await waitingOf(botId);
    const { id } = approval ?? { id: '' };
    await replica.graphql(at.tenant.apiKey, DECIDE, { id, decision: 'DENY' });
    await expect.poll(topics, { timeout: 60_000 }).toEqual([9, undefined, 12, 12, 12]);
  });

  test('says so if the run that tells it failed', async () => {
    const { botId, bot } = await connectedBot(at, refunds());
    await bot.deliver(at.app.url, bot.text('Refund A-3'));
    await expect.poll(() => bot.chat(42).length).toBe(1);
    const [approval] = await waitingOf(botId);
    const { id } = approval ?? { id: '' };
    await at.tenant.graphql(DECIDE, { id, decision: 'DENY' });
    await settled(id);
    await expect.poll(() => bot.chat(42).length, { timeout: 60_000 }).toBe(2);
    const { followUpId } = await at.app.prisma.approval.findUniqueOrThrow({ where: { id } });
    const unfinished = () => at.app.prisma.telegramUpdate.count({ where: { botId, doneAt: null } });
    await expect.poll(unfinished, { timeout: 60_000 }).toBe(0);
    // The same row again, for a run that failed.
    await at.app.prisma.run.update({ where: { id: followUpId ?? '' }, data: { status: 'FAILED' } });
    await at.app.prisma.$executeRaw`
      UPDATE telegram_updates SET done_at = NULL, sent_ids = '{}', message = ${JSON.stringify({
        chatId: 42,
        request: { kind: 'outcome', runId: followUpId },
      })}::jsonb WHERE bot_id = ${botId} AND update_id < 0`;
    await expect
      .poll(() => bot.chat(42).at(-1)?.text, { timeout: 60_000 })
      .toMatch(/^A call that waited for approval is settled, but I cannot tell you the outcome/);
  });
});
