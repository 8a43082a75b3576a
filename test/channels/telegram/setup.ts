import { expect } from 'vitest';
import { agent, startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { atTheEnd } from '../../helpers/at-the-end.ts';
import { type FakeBot, type FakeTelegram, startTelegram } from '../../helpers/telegram.ts';

export const PUBLIC_URL = 'https://bots.example';

/** An app whose bots are connected to a fake Bot API server. */
export type TelegramApp = { app: TestApp; telegram: FakeTelegram; tenant: Tenant };

export type StartOptions = Parameters<typeof startApp>[0];

export async function startTelegramApp(options: StartOptions = {}): Promise<TelegramApp> {
  const telegram = await startTelegram();
  atTheEnd(telegram.close);
  const app = await startApp({
    publicUrl: PUBLIC_URL,
    ...options,
    // Long enough for a slow machine.
    telegram: { apiRoot: telegram.apiRoot, waitMs: 60_000, ...options.telegram },
  });
  return { app, telegram, tenant: await app.tenant() };
}

export const DEPLOY = `mutation ($bot: ID!, $source: String!, $environment: Environment, $token: String!) {
  deploy(botId: $bot, input: {
    source: $source, environment: $environment, envVars: [{ name: "TOKEN", value: $token }]
  }) {
    id status channels deployedAt channelStates { channel status problem } diagnostics { severity code message }
  }
}`;

const STATE = `query ($id: ID!) {
  node(id: $id) { ... on Deployment {
    id status channels deployedAt channelStates { channel status problem } diagnostics { code message }
  } }
}`;

export const members = (more = '') => `channel telegram { token env.TOKEN }\n  ${more}`;

/** Deploys a definition with the channel Telegram. @returns the deployment. */
export async function deploy(
  tenant: Tenant,
  bot: string,
  token: string,
  { source = agent(members()), environment = 'PRODUCTION' } = {},
) {
  const { data, errors } = await tenant.graphql(DEPLOY, { bot, source, environment, token });
  expect(errors).toBeUndefined();
  return data.deploy;
}

/** Reads a deployment. */
export async function deployment(tenant: Tenant, id: string) {
  const { data, errors } = await tenant.graphql(STATE, { id });
  expect(errors).toBeUndefined();
  return data.node;
}

/** Lets the time in which a deployment may be connected be over. */
export async function expire({ app }: TelegramApp, deploymentId: string): Promise<void> {
  await app.prisma.channelState.updateMany({
    where: { deploymentId },
    data: { createdAt: new Date(Date.now() - 3_600_000), availableAt: new Date() },
  });
}

/** A bot that is connected to a new Telegram bot. */
export async function connectedBot(
  { tenant, telegram }: TelegramApp,
  more = '',
): Promise<{ botId: string; deploymentId: string; bot: FakeBot }> {
  const bot = telegram.bot();
  const botId = await tenant.bot(null);
  const source = agent(members(more));
  const { id, status } = await deploy(tenant, botId, bot.token, { source });
  expect(status).toBe('DEPLOYED');
  return { botId, deploymentId: id, bot };
}
