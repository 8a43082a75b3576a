import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp } from '../../helpers/app.ts';
import { deploy, deployment, startTelegramApp, type TelegramApp } from './setup.ts';

let at: TelegramApp;
beforeAll(async () => {
  at = await startTelegramApp({ telegram: { waitMs: 100 } });
});
beforeEach(() => at.telegram.script(() => undefined));

/** Makes the server hold back its answers to a method until they are released. */
const hold = (method: string) => {
  const held = Promise.withResolvers<void>();
  at.telegram.script((call) => (call.method === method ? held.promise : undefined));
  return held.resolve;
};

describe('a deployment that Telegram confirms late', () => {
  test('is pending over GraphQL and REST, answers already, and is deployed once it is confirmed', async () => {
    const bot = at.telegram.bot();
    const botId = await at.tenant.bot(null);
    const release = hold('setWebhook');
    const found = await deploy(at.tenant, botId, bot.token);
    expect(found).toMatchObject({
      status: 'PENDING',
      channels: [],
      deployedAt: null,
      channelStates: [{ channel: 'TELEGRAM', status: 'PENDING', problem: null }],
      diagnostics: [],
    });
    const listed = await fetch(`${at.app.url}/v1/bots/${botId}/deployments?status=pending`, {
      headers: at.tenant.headers,
    });
    expect((await listed.json()).deployments).toMatchObject([
      { status: 'pending', deployed_at: expect.any(String), channels: [], active: true },
    ]);
    expect((await at.tenant.chat(botId, { message: 'Hi' })).status).toBe(200);
    release();
    await expect
      .poll(() => deployment(at.tenant, found.id))
      .toMatchObject({
        status: 'DEPLOYED',
        channels: ['TELEGRAM'],
        deployedAt: expect.any(String),
        channelStates: [{ status: 'CONNECTED' }],
      });
  });

  test('claims its Telegram bot late if Telegram did not answer the check of the token', async () => {
    const bot = at.telegram.bot();
    const release = hold('getMe');
    const first = await deploy(at.tenant, await at.tenant.bot(null), bot.token);
    const second = await deploy(at.tenant, await at.tenant.bot(null), bot.token);
    expect([first.status, second.status]).toEqual(['PENDING', 'PENDING']);
    release();
    const settled = async () => {
      const found = await Promise.all([first, second].map(({ id }) => deployment(at.tenant, id)));
      return found.map(({ status, channels }) => `${status} ${channels}`).sort();
    };
    await expect.poll(settled).toEqual(['DEPLOYED ', 'DEPLOYED TELEGRAM']);
  });

  test('is deployed without the channel if a later deployment replaces it', async () => {
    const bot = at.telegram.bot();
    const botId = await at.tenant.bot(null);
    const release = hold('setWebhook');
    const first = await deploy(at.tenant, botId, bot.token);
    const second = await deploy(at.tenant, botId, bot.token);
    expect(await deployment(at.tenant, first.id)).toMatchObject({
      status: 'DEPLOYED',
      channels: [],
      diagnostics: [{ code: 'channel-unavailable' }],
    });
    release();
    await expect
      .poll(() => deployment(at.tenant, second.id))
      .toMatchObject({ status: 'DEPLOYED', channels: ['TELEGRAM'] });
    const webhookPath = bot.webhook()?.url.split('/').at(-1);
    await expect
      .poll(() => at.app.prisma.channelState.findFirst({ where: { deploymentId: second.id } }))
      .toMatchObject({ webhookPath, status: 'CONNECTED' });
  });

  test('is connected by a later attempt after failures of Telegram', async () => {
    const refusals = [{ code: 502 }, { code: 429, retryAfter: 1 }];
    const bot = at.telegram.bot();
    at.telegram.script(({ method, token }) =>
      method === 'setWebhook' && token === bot.token ? refusals.shift() : undefined,
    );
    const { id } = await deploy(at.tenant, await at.tenant.bot(null), bot.token);
    await expect
      .poll(() => deployment(at.tenant, id))
      .toMatchObject({ status: 'DEPLOYED', channels: ['TELEGRAM'], diagnostics: [] });
    expect(bot.calls('setWebhook')).toHaveLength(3);
  });

  test('may be the target of a rollback while it is pending', async () => {
    const bot = at.telegram.bot();
    const botId = await at.tenant.bot(null);
    const release = hold('setWebhook');
    const { id } = await deploy(at.tenant, botId, bot.token);
    const { data, errors } = await at.tenant.graphql(
      'mutation ($bot: ID!, $id: ID!) { rollback(botId: $bot, deploymentId: $id) { id } }',
      { bot: botId, id },
    );
    expect(errors).toBeUndefined();
    release();
    await expect
      .poll(() => deployment(at.tenant, data.rollback.id))
      .toMatchObject({ status: 'DEPLOYED', channels: ['TELEGRAM'] });
  });
});

describe('a connected deployment', () => {
  test('moves its webhook when a process starts with another public URL', async () => {
    const bot = at.telegram.bot();
    const { id } = await deploy(at.tenant, await at.tenant.bot(null), bot.token);
    await expect.poll(() => deployment(at.tenant, id)).toMatchObject({ channels: ['TELEGRAM'] });
    const telegram = { apiRoot: at.telegram.apiRoot };
    const moved = await startApp({ publicUrl: 'https://moved.example/parley', telegram });
    await expect
      .poll(() => bot.webhook()?.url)
      .toMatch(/^https:\/\/moved\.example\/parley\/channels\/telegram\//);
    await moved.close();
  });
});
