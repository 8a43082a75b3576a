import { pino } from 'pino';
import { beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { agent, startApp, type TestApp } from '../../helpers/app.ts';
import { linkRedis } from '../../helpers/redis.ts';
import { deploy, deployment, members, startTelegramApp, type TelegramApp } from './setup.ts';

let at: TelegramApp;
/** Another replica of the same installation. */
let replica: TestApp;
const lines: string[] = [];
beforeEach(() => at.telegram.script(() => undefined));
beforeAll(async () => {
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const link = async () => (inject('redisUrl') ? (await linkRedis()).redis : undefined);
  at = await startTelegramApp({ publicUrl: 'http://bots.example', redis: await link(), log });
  const telegram = { apiRoot: at.telegram.apiRoot, waitMs: 60_000 };
  replica = await startApp({
    publicUrl: 'http://bots.example',
    telegram,
    redis: await link(),
    log,
  });
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

  test('shows that another program polls its Telegram bot, until that ends', async () => {
    const bot = at.telegram.bot();
    const { id } = await deploy(at.tenant, await at.tenant.bot(null), bot.token);
    const description = 'Conflict: terminated by other getUpdates request';
    at.telegram.script(({ method, token }) =>
      method === 'getUpdates' && token === bot.token ? { code: 409, description } : undefined,
    );
    // Ends the poll in progress.
    bot.queue(bot.text('Hi'));
    const state = async () => (await deployment(at.tenant, id)).channelStates[0];
    await expect.poll(state).toMatchObject({
      status: 'CONNECTED',
      problem: 'Another program polls this Telegram bot, or has set a webhook for it.',
    });
    at.telegram.script(() => undefined);
    bot.queue(bot.text('Again'));
    await expect.poll(state).toMatchObject({ status: 'CONNECTED', problem: null });
    await expect.poll(() => texts(bot)).toEqual(['Hello there.', 'Hello there.']);
  });

  test('pauses after an update without a valid id, and is answered still', async () => {
    const bot = at.telegram.bot();
    const { id } = await deploy(at.tenant, await at.tenant.bot(null), bot.token);
    bot.queue({ ...bot.text('Bad'), update_id: 2 ** 60 });
    const warnings = () => lines.filter((line) => line.includes(id));
    await expect
      .poll(() => warnings().join())
      .toContain('No update of Telegram has a new and valid id.');
    bot.queue(bot.text('Hi'));
    await expect.poll(() => texts(bot)).toEqual(['Hello there.']);
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
