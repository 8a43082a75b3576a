import { pino } from 'pino';
import { beforeAll, beforeEach, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { createChannelStates } from '../../../src/channels/states.ts';
import { createTelegramApi } from '../../../src/channels/telegram/api.ts';
import { createConnectionAttempts } from '../../../src/channels/telegram/connection-attempts.ts';
import { createHandleUpdate } from '../../../src/channels/telegram/handle.ts';
import { createInbox } from '../../../src/channels/telegram/inbox.ts';
import { CONFLICT } from '../../../src/channels/telegram/registration.ts';
import { readUpdate } from '../../../src/channels/telegram/update.ts';
import { createPubSub } from '../../../src/coordination/pubsub.ts';
import { startApp } from '../../helpers/app.ts';
import {
  deploy,
  deployment,
  expire,
  PUBLIC_URL,
  startTelegramApp,
  type TelegramApp,
} from './setup.ts';

let at: TelegramApp;
beforeAll(async () => {
  at = await startTelegramApp({ telegram: { waitMs: 100 } });
});
beforeEach(() => at.telegram.script(() => undefined));

const stateOf = (deploymentId: string) =>
  at.app.prisma.channelState.findFirstOrThrow({ where: { deploymentId } });

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
      {
        status: 'pending',
        deployed_at: expect.any(String),
        ended_at: null,
        channels: [],
        active: true,
      },
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

  // PGlite uses the clock of its process.
  test.skipIf(!inject('databaseUrl')).each([-1, 1])(
    'is connected by another replica if the clock of its own differs by %d hour',
    async (hours) => {
      const { apiRoot } = at.telegram;
      // Its deploys wait for the end of the first attempt.
      const patient = await startApp({
        publicUrl: PUBLIC_URL,
        telegram: { apiRoot, waitMs: 60_000 },
      });
      const tenant = await patient.tenant();
      const botId = await tenant.bot(null);
      const bot = at.telegram.bot();
      const refusals = [{ code: 502 }];
      at.telegram.script(({ method, token }) =>
        method === 'setWebhook' && token === bot.token ? refusals.shift() : undefined,
      );
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * 3_600_000 });
      onTestFinished(() => void vi.useRealTimers());
      const { id } = await deploy(tenant, botId, bot.token);
      vi.useRealTimers();
      await expect
        .poll(() => deployment(tenant, id))
        .toMatchObject({ status: 'DEPLOYED', channels: ['TELEGRAM'], diagnostics: [] });
      await patient.close();
    },
  );

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

describe('the time in which a deployment is pending', () => {
  test.each([
    [30, 30_000],
    [600, 40_000],
  ])('has a pause of %d seconds if Telegram asks for it, and ends', async (retryAfter, pauseMs) => {
    const bot = at.telegram.bot();
    at.telegram.script(({ method, token }) =>
      method === 'setWebhook' && token === bot.token ? { code: 429, retryAfter } : undefined,
    );
    const { id } = await deploy(at.tenant, await at.tenant.bot(null), bot.token);
    const pause = async () => {
      const { availableAt, createdAt } = await stateOf(id);
      return availableAt.getTime() - createdAt.getTime();
    };
    await expect.poll(pause).toBeGreaterThanOrEqual(pauseMs);
    expect(await pause()).toBeLessThan(41_000);
    await expire(at, id);
    await expect
      .poll(() => deployment(at.tenant, id))
      .toMatchObject({ status: 'DEPLOYED', channels: [] });
    expect(bot.calls('setWebhook')).toHaveLength(1);
  });

  test('ends although Telegram answers no deployment', async () => {
    const release = hold('setWebhook');
    const bots = Array.from({ length: 24 }, () => at.telegram.bot());
    const ids = await Promise.all(
      bots.map(async (bot) => {
        const { id, status } = await deploy(at.tenant, await at.tenant.bot(null), bot.token);
        expect(status).toBe('PENDING');
        return id;
      }),
    );
    const [late = '', ...others]: string[] = ids;
    await at.app.prisma.channelState.updateMany({
      where: { deploymentId: { in: others } },
      data: { availableAt: new Date() },
    });
    const again = () => bots.slice(1).filter((bot) => bot.calls('setWebhook').length > 1);
    await expect.poll(() => again().length).toBeGreaterThanOrEqual(20);
    await expire(at, late);
    await expect
      .poll(() => deployment(at.tenant, late))
      .toMatchObject({
        status: 'DEPLOYED',
        channels: [],
        channelStates: [{ status: 'UNAVAILABLE', problem: expect.stringContaining('in time') }],
      });
    release();
    for (const id of others)
      await expect.poll(() => deployment(at.tenant, id)).toMatchObject({ status: 'DEPLOYED' });
  });

  test('ends an attempt in progress', async () => {
    const bot = at.telegram.bot();
    const release = hold('setWebhook');
    const { id } = await deploy(at.tenant, await at.tenant.bot(null), bot.token);
    const { prisma } = at.app;
    const state = await stateOf(id);
    const aborted = Promise.withResolvers<never>();
    const { attempt } = createConnectionAttempts({
      prisma,
      states: createChannelStates({ prisma, notify: () => {} }),
      registration: {
        register(_state, signal) {
          signal.addEventListener('abort', () => aborted.reject(signal.reason));
          return aborted.promise;
        },
        leave: async () => {},
      },
      registeredUrl: PUBLIC_URL,
      pendingMs: Date.now() - state.createdAt.getTime() + 500,
    });
    await attempt(state, new AbortController().signal);
    expect(await deployment(at.tenant, id)).toMatchObject({ status: 'DEPLOYED', channels: [] });
    release();
  });
});

describe('a deployment of the same Telegram bot', () => {
  test('sets its webhook again if its predecessor removes the webhook late', async () => {
    const bot = at.telegram.bot();
    const botId = await at.tenant.bot(null);
    const first = await deploy(at.tenant, botId, bot.token);
    await expect.poll(() => deployment(at.tenant, first.id)).toMatchObject({ status: 'DEPLOYED' });
    const [me, removal] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    at.telegram.script(({ method, token }) => {
      if (token !== bot.token) return undefined;
      return { getMe: me.promise, deleteWebhook: removal.promise }[method];
    });
    // Telegram does not tell whose token this is, so the predecessor may have had another one.
    const second = await deploy(at.tenant, botId, bot.token);
    await expect.poll(() => bot.calls('deleteWebhook').length).toBe(1);
    me.resolve();
    await expect
      .poll(() => deployment(at.tenant, second.id))
      .toMatchObject({ channels: ['TELEGRAM'] });
    const before = bot.calls('setWebhook').length;
    removal.resolve();
    await expect.poll(() => bot.calls('setWebhook').length).toBeGreaterThan(before);
    const { webhookPath } = await stateOf(second.id);
    await expect.poll(() => bot.webhook()?.url.split('/').at(-1)).toBe(webhookPath);
  });

  test('sets its webhook again if that happens before its connection is stored', async () => {
    const bot = at.telegram.bot();
    const release = hold('setWebhook');
    const { id } = await deploy(at.tenant, await at.tenant.bot(null), bot.token);
    await expect.poll(async () => (await stateOf(id)).externalId).toBe(String(bot.id));
    const { prisma } = at.app;
    const state = await stateOf(id);
    const { attempt, leave } = createConnectionAttempts({
      prisma,
      states: createChannelStates({ prisma, notify: () => {} }),
      registration: {
        async register(_state, signal) {
          await leave({ ...state, deploymentId: 'dep_replaced', leaving: true }, signal);
          return undefined;
        },
        leave: async () => {},
      },
      registeredUrl: PUBLIC_URL,
      pendingMs: 60_000,
    });
    await attempt(state, new AbortController().signal);
    expect(await deployment(at.tenant, id)).toMatchObject({ status: 'PENDING' });
    await expect.poll(() => bot.calls('setWebhook').length).toBeGreaterThan(1);
    release();
    await expect
      .poll(() => deployment(at.tenant, id))
      .toMatchObject({ status: 'DEPLOYED', channels: ['TELEGRAM'] });
  });
});

describe('a message that a deploy overtakes', () => {
  test('is answered once the deployment is connected', async () => {
    const bot = at.telegram.bot();
    const botId = await at.tenant.bot(null);
    const release = hold('setWebhook');
    const { id } = await deploy(at.tenant, botId, bot.token);
    const { prisma } = at.app;
    const owner = { id: () => 'own_of_another_replica', isAlive: () => true };
    const inbox = createInbox({ prisma, owner, pubsub: createPubSub() });
    const update = readUpdate(bot.text('Hi'), { id: String(bot.id), name: bot.name });
    if (!update) throw new Error('The update needs an answer.');
    const telegramBotId = String(bot.id);
    await inbox.store({ telegramBotId, botId, environment: 'PRODUCTION' }, update);
    // As if it had been taken while the earlier deployment was connected.
    const taken = { ownerId: owner.id(), attempts: 1 };
    const where = { telegramBotId_updateId: { telegramBotId, updateId: update.updateId } };
    const row = await prisma.telegramUpdate.update({ where, data: taken });
    const never = async () => {
      throw new Error('The channel is not connected.');
    };
    const handle = createHandleUpdate({
      prisma,
      inbox,
      api: createTelegramApi({}),
      activeDeployments: { loadAll: never },
      chat: never,
      commands: never,
      tellOutcome: never,
      press: never,
      blockedChats: { add: never, remove: never },
      connector: { revoked: never },
      log: pino({ level: 'silent' }),
    });
    const { message } = update;
    await handle({ ...row, ...taken, message, sentIds: [] }, new AbortController().signal);
    expect(await prisma.telegramUpdate.findUnique({ where })).toMatchObject({
      doneAt: null,
      ownerId: null,
    });
    release();
    await expect.poll(() => deployment(at.tenant, id)).toMatchObject({ status: 'DEPLOYED' });
    await expect.poll(() => bot.chat(42).map(({ text }) => text)).toEqual(['Hello there.']);
  });
});

describe('a connected deployment', () => {
  test('moves its webhook when a process starts with another public URL', async () => {
    const bot = at.telegram.bot();
    const { id } = await deploy(at.tenant, await at.tenant.bot(null), bot.token);
    await expect.poll(() => deployment(at.tenant, id)).toMatchObject({ channels: ['TELEGRAM'] });
    // As if another program had set a webhook.
    const data = { problem: CONFLICT };
    await at.app.prisma.channelState.updateMany({ where: { deploymentId: id }, data });
    const telegram = { apiRoot: at.telegram.apiRoot };
    const moved = await startApp({ publicUrl: 'https://moved.example/parley', telegram });
    await expect
      .poll(() => bot.webhook()?.url)
      .toMatch(/^https:\/\/moved\.example\/parley\/channels\/telegram\//);
    await expect.poll(() => stateOf(id)).toMatchObject({ status: 'CONNECTED', problem: null });
    await moved.close();
  });
});
