import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { agent } from '../../helpers/app.ts';
import {
  connectedBot,
  deploy,
  deployment,
  expire,
  members,
  PUBLIC_URL,
  startTelegramApp,
  type TelegramApp,
} from './setup.ts';

let at: TelegramApp;
beforeAll(async () => {
  at = await startTelegramApp({ telegram: { waitMs: 60_000 } });
});
beforeEach(() => at.telegram.script(() => undefined));

const CONNECTED = { channel: 'TELEGRAM', status: 'CONNECTED', problem: null };
const post = (path: string, body: object) =>
  fetch(at.app.url + path, {
    method: 'POST',
    headers: { ...at.tenant.headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

describe('a deployment with the channel Telegram', () => {
  test('checks the token, sets a webhook with a secret, and is deployed', async () => {
    const bot = at.telegram.bot();
    const botId = await at.tenant.bot(null);
    const found = await deploy(at.tenant, botId, bot.token, {
      source: agent(members('channel web')),
    });
    expect(found).toMatchObject({
      status: 'DEPLOYED',
      channels: ['WEB', 'TELEGRAM'],
      deployedAt: expect.any(String),
      channelStates: [{ channel: 'WEB', status: 'CONNECTED', problem: null }, CONNECTED],
      diagnostics: [],
    });
    expect(bot.webhook()?.url).toMatch(new RegExp(`^${PUBLIC_URL}/channels/telegram/[\\w-]{43}$`));
    expect(bot.webhook()?.secret).toMatch(/^[\w-]{43}$/);
    expect(bot.calls().map(({ method }) => method)).toEqual(['getMe', 'setWebhook']);
  });

  test('answers over REST as the contract has it', async () => {
    const bot = at.telegram.bot();
    const botId = await at.tenant.bot(null);
    const body = { agentlang: agent(members('channel web')), env_vars: { TOKEN: bot.token } };
    const response = await post(`/v1/bots/${botId}/deploy`, body);
    const reply = await response.json();
    expect(reply).toMatchObject({
      status: 'deployed',
      channels: ['web', 'telegram'],
      warnings: [],
    });
  });

  test.each([
    ['is no token', 'none', 'The variable TOKEN is not a token of a Telegram bot.'],
    [
      'is unknown to Telegram',
      '1:unknown-unknown-unknown-unknown',
      'Telegram does not accept the token in the variable TOKEN.',
    ],
  ])('is deployed without the channel if the variable %s', async (_what, token, problem) => {
    const botId = await at.tenant.bot(null);
    const found = await deploy(at.tenant, botId, token);
    expect(found).toMatchObject({
      status: 'DEPLOYED',
      channels: [],
      channelStates: [{ channel: 'TELEGRAM', status: 'UNAVAILABLE', problem }],
      diagnostics: [{ code: 'channel-unavailable' }],
    });
  });

  test('takes the webhook over from an earlier deployment with the same token', async () => {
    const { botId, deploymentId, bot } = await connectedBot(at);
    const first = bot.webhook();
    const found = await deploy(at.tenant, botId, bot.token);
    expect(found.channelStates).toEqual([CONNECTED]);
    expect(bot.webhook()?.url).not.toBe(first?.url);
    expect(bot.calls('deleteWebhook')).toEqual([]);
    expect((await deployment(at.tenant, deploymentId)).channelStates).toMatchObject([
      { status: 'UNAVAILABLE', problem: 'A later deployment has replaced this one.' },
    ]);
  });

  test('removes the webhook of an earlier deployment with another token', async () => {
    const { botId, bot } = await connectedBot(at);
    const other = at.telegram.bot();
    await deploy(at.tenant, botId, other.token);
    expect(other.webhook()).toBeDefined();
    await expect.poll(() => bot.webhook()).toBeUndefined();
  });

  test('is taken away by a deployment that does not name the channel, and set again by a rollback', async () => {
    const { botId, deploymentId, bot } = await connectedBot(at);
    const response = await post(`/v1/bots/${botId}/deploy`, { agentlang: agent() });
    expect(await response.json()).toMatchObject({ status: 'deployed', channels: [] });
    await expect.poll(() => bot.webhook()).toBeUndefined();
    const back = await post(`/v1/bots/${botId}/deployments/${deploymentId}/rollback`, {});
    expect(await back.json()).toMatchObject({ status: 'deployed', channels: ['telegram'] });
    expect(bot.webhook()).toBeDefined();
  });

  test('is connected by a promotion, with the token of production', async () => {
    const { botId, bot } = await connectedBot(at);
    const staging = at.telegram.bot();
    const staged = await deploy(at.tenant, botId, staging.token, { environment: 'STAGING' });
    const before = bot.webhook();
    const { data } = await at.tenant.graphql(
      `mutation ($bot: ID!, $id: ID!) { promote(botId: $bot, deploymentId: $id) { status channels } }`,
      { bot: botId, id: staged.id },
    );
    expect(data.promote).toEqual({ status: 'DEPLOYED', channels: ['TELEGRAM'] });
    expect(bot.webhook()?.url).not.toBe(before?.url);
    expect(staging.webhook()).toBeDefined();
  });

  test('loses the webhook when its bot is deleted', async () => {
    const { botId, bot } = await connectedBot(at);
    const { errors } = await at.tenant.graphql(`mutation ($id: ID!) { deleteBot(id: $id) }`, {
      id: botId,
    });
    expect(errors).toBeUndefined();
    expect(bot.webhook()).toBeUndefined();
    expect(await at.app.prisma.channelState.count({ where: { botId } })).toBe(0);
  });
});

describe('the token of another bot', () => {
  const claimed = (by: string) => ({
    status: 'FAILED',
    channels: [],
    channelStates: [],
    diagnostics: [
      {
        severity: 'ERROR',
        code: 'channel-claimed',
        message: `the token of the channel telegram is already in use by ${by}`,
      },
    ],
  });

  test('fails a deploy, and names the bot to a key that may see it', async () => {
    const { botId, bot } = await connectedBot(at);
    const other = await at.tenant.bot(null);
    const refused = await deploy(at.tenant, other, bot.token);
    expect(refused).toMatchObject(claimed(`the bot "${botId}" in production`));
    expect(await at.app.prisma.activeDeployment.count({ where: { botId: other } })).toBe(0);
    expect(bot.calls('setWebhook')).toHaveLength(1);
  });

  test('does not name the bot to another account, or to a key restricted to other bots', async () => {
    const { bot } = await connectedBot(at);
    const stranger = await at.app.tenant();
    expect(await deploy(stranger, await stranger.bot(null), bot.token)).toMatchObject(
      claimed('another bot'),
    );
    const mine = await at.tenant.bot(null);
    const apiKey = await at.tenant.key({ botIds: [mine] });
    const restricted = {
      ...at.tenant,
      graphql: (query: string, variables?: object) => at.app.graphql(apiKey, query, variables),
    };
    expect(await deploy(restricted, mine, bot.token)).toMatchObject(claimed('another bot'));
  });

  test('fails a deploy to another environment of the same bot', async () => {
    const { botId, bot } = await connectedBot(at);
    const refused = await deploy(at.tenant, botId, bot.token, { environment: 'STAGING' });
    expect(refused).toMatchObject(claimed(`the bot "${botId}" in production`));
  });

  test('is free again after its bot has another token', async () => {
    const { botId, bot } = await connectedBot(at);
    await deploy(at.tenant, botId, at.telegram.bot().token);
    const found = await deploy(at.tenant, await at.tenant.bot(null), bot.token);
    expect(found.channels).toEqual(['TELEGRAM']);
    expect(bot.webhook()).toBeDefined();
  });

  test('is given to one of two bots that are deployed at once', async () => {
    const bot = at.telegram.bot();
    const ids = [await at.tenant.bot(null), await at.tenant.bot(null)];
    const found = await Promise.all(ids.map((id) => deploy(at.tenant, id, bot.token)));
    expect(found.map(({ status }) => status).sort()).toEqual(['DEPLOYED', 'FAILED']);
  });
});

describe('a deployment whose webhook Telegram does not confirm', () => {
  test('is deployed without the channel, with a warning, once the time is over', async () => {
    const bot = at.telegram.bot();
    at.telegram.script(({ method, token }) =>
      method === 'setWebhook' && token === bot.token ? { code: 429, retryAfter: 30 } : undefined,
    );
    const { id, status } = await deploy(at.tenant, await at.tenant.bot(null), bot.token);
    expect(status).toBe('PENDING');
    await expire(at, id);
    await expect
      .poll(() => deployment(at.tenant, id))
      .toMatchObject({
        status: 'DEPLOYED',
        channels: [],
        channelStates: [{ status: 'UNAVAILABLE', problem: expect.stringContaining('in time') }],
        diagnostics: [{ code: 'channel-unavailable' }],
      });
    // A further attempt would have come too late.
    expect(bot.calls('setWebhook')).toHaveLength(1);
  });

  test('is deployed without the channel if Telegram rejects the address', async () => {
    at.telegram.script(({ method }) =>
      method === 'setWebhook' ? { code: 400, description: 'Bad Request: bad webhook' } : undefined,
    );
    const bot = at.telegram.bot();
    const found = await deploy(at.tenant, await at.tenant.bot(null), bot.token);
    expect(found.channelStates).toMatchObject([
      { status: 'UNAVAILABLE', problem: expect.stringContaining('PUBLIC_URL') },
    ]);
  });
});
