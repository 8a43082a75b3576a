import { beforeAll, describe, expect, inject, test } from 'vitest';
import { agent, startApp, type TestApp } from '../../helpers/app.ts';
import { linkRedis } from '../../helpers/redis.ts';
import { deploy, deployment, members, startTelegramApp, type TelegramApp } from './setup.ts';

let at: TelegramApp;
/** Another replica of the same installation. */
let replica: TestApp;
beforeAll(async () => {
  const link = async () => (inject('redisUrl') ? (await linkRedis()).redis : undefined);
  at = await startTelegramApp({ publicUrl: 'http://bots.example', redis: await link() });
  const telegram = { apiRoot: at.telegram.apiRoot, waitMs: 60_000 };
  replica = await startApp({ publicUrl: 'http://bots.example', telegram, redis: await link() });
});

const texts = (bot: { chat(id: number): { text: string }[] }) =>
  bot.chat(42).map(({ text }) => text);

describe('a deployment without an https address', () => {
  test('is connected, polled by one of two replicas, and answered once', async () => {
    const bot = at.telegram.bot();
    const botId = await at.tenant.bot(null);
    expect(await deploy(at.tenant, botId, bot.token)).toMatchObject({
      status: 'DEPLOYED',
      channels: ['TELEGRAM'],
    });
    expect(bot.webhook()).toBeUndefined();
    await expect.poll(() => bot.polls()).toBe(1);
    const update = bot.text('Hi');
    bot.queue(update, update);
    await expect.poll(() => texts(bot)).toEqual(['Hello there.']);
    await expect.poll(() => bot.calls('getUpdates').at(-1)?.body.offset).toBe(update.update_id + 1);
    bot.queue(bot.text('Again'));
    await expect.poll(() => texts(bot)).toEqual(['Hello there.', 'Hello there.']);
    // A second poll would end the first one with a conflict.
    const leases = await at.app.prisma.channelState.findMany({ where: { botId } });
    expect(new Set(leases.map(({ pollerId }) => pollerId)).size).toBe(1);
    expect(await at.app.prisma.run.count({ where: { botId } })).toBe(2);
  });

  test('is polled no more once a deployment without the channel replaces it', async () => {
    const bot = at.telegram.bot();
    const botId = await at.tenant.bot(null);
    await deploy(at.tenant, botId, bot.token);
    await expect.poll(() => bot.polls()).toBe(1);
    await at.tenant.graphql(
      'mutation ($bot: ID!, $source: String!) { deploy(botId: $bot, input: { source: $source }) { id } }',
      { bot: botId, source: agent() },
    );
    await expect.poll(() => bot.polls()).toBe(0);
  });

  test('is taken away when its token is revoked', async () => {
    const bot = at.telegram.bot();
    const { id } = await deploy(at.tenant, await at.tenant.bot(null), bot.token);
    await expect.poll(() => bot.polls()).toBe(1);
    bot.revoke();
    bot.queue(bot.update({ pinned_message: {} }));
    await expect
      .poll(() => deployment(at.tenant, id))
      .toMatchObject({ channels: [], channelStates: [{ status: 'UNAVAILABLE' }] });
  });

  test('is polled by the other replica after one has stopped, and keeps its messages', async () => {
    const bot = at.telegram.bot();
    const botId = await at.tenant.bot(null);
    await deploy(at.tenant, botId, bot.token, { source: agent(members()) });
    await expect.poll(() => bot.polls()).toBe(1);
    await replica.close();
    bot.queue(bot.text('Hi'));
    await expect.poll(() => texts(bot)).toEqual(['Hello there.']);
    await expect.poll(() => bot.polls()).toBe(1);
  });
});
