import { startDeadline } from '../../async/deadline.ts';
import type { ActiveDeployments } from '../../deployments/active.ts';
import type { ChannelConnections } from '../../deployments/channels.ts';
import type { ChannelState, PrismaClient } from '../../generated/prisma/client.ts';
import { RELEASED } from '../states.ts';
import type { TelegramApi, TelegramBot } from './api.ts';
import { findClaim, takeOver } from './claims.ts';
import { isTelegramError } from './error.ts';
import { readToken, telegramOf, webhookOf } from './token.ts';

/** Registers deployments with Telegram: by a webhook, or for polling. */
export type Registration = Pick<ChannelConnections, 'check'> & {
  /** The token of a deployment. `undefined` if the deployment is gone or has no token. */
  tokenOf(deploymentId: string): Promise<string | undefined>;
  /** As `tokenOf`, with the calls to the Bot API. */
  botOf(deploymentId: string): Promise<TelegramBot | undefined>;
  /**
   * Registers a deployment.
   *
   * @returns why it cannot be registered, a sentence, if a further attempt would not help.
   * @throws TelegramError
   */
  register(state: ChannelState, signal: AbortSignal): Promise<string | undefined>;
  /** Removes the webhook of a deployment. @throws TelegramError */
  leave(state: ChannelState, signal: AbortSignal): Promise<void>;
};

export const REVOKED =
  'Telegram does not accept the token any more. Get a new one from BotFather, and deploy it.';
export const CONFLICT = 'Another program polls this Telegram bot, or has set a webhook for it.';
const CLAIMED = 'The Telegram bot belongs to another bot or environment.';
const BAD_ADDRESS = 'Telegram does not accept PUBLIC_URL as the address of a webhook.';

/** Matches the state of a deployment that no other one has replaced. */
const currentOf = (deploymentId: string) => ({
  deploymentId,
  channel: 'TELEGRAM' as const,
  status: { in: ['PENDING' as const, 'CONNECTED' as const] },
});

/**
 * @param registeredUrl the public URL for webhooks; empty: updates are polled.
 * @param waitMs how long a deploy waits for Telegram.
 */
export function createRegistration({
  prisma,
  api,
  activeDeployments,
  registeredUrl,
  waitMs,
}: {
  prisma: PrismaClient;
  api: TelegramApi;
  activeDeployments: Pick<ActiveDeployments, 'loadAll'>;
  registeredUrl: string;
  waitMs: number;
}): Registration {
  const tokenOf = async (deploymentId: string): Promise<string | undefined> => {
    const deployment = (await activeDeployments.loadAll([deploymentId])).get(deploymentId);
    const channel = deployment && telegramOf(deployment.definition);
    const read = channel && readToken(channel, deployment.variables);
    return read && 'token' in read ? read.token : undefined;
  };

  /** Stores the Telegram bot of a deployment that could not ask for it before. @returns whether no other bot has it. */
  const claim = (state: ChannelState, { id, name }: { id: string; name: string }) =>
    prisma.$transaction(async (tx) => {
      const { deploymentId, botId, environment } = state;
      if (await findClaim(tx, id, { id: deploymentId, botId, environment })) return false;
      await takeOver(tx, id, deploymentId);
      await tx.channelState.updateMany({
        where: currentOf(deploymentId),
        data: { externalId: id, externalName: name },
      });
      return true;
    });

  const setWebhook = async (state: ChannelState, token: string, signal: AbortSignal) => {
    const { deploymentId } = state;
    const bot = api.of(token);
    if (registeredUrl === '') return bot.deleteWebhook(signal);
    const { path, secret } = webhookOf(token, deploymentId);
    await prisma.channelState.updateMany({
      where: currentOf(deploymentId),
      data: { webhookPath: path },
    });
    await bot.setWebhook(`${registeredUrl}/channels/telegram/${path}`, secret, signal);
  };

  return {
    tokenOf,

    async botOf(deploymentId) {
      const token = await tokenOf(deploymentId);
      return token === undefined ? undefined : api.of(token);
    },

    async check(definition, variables) {
      const channel = telegramOf(definition);
      if (!channel) return [];
      const read = readToken(channel, variables);
      if ('problem' in read) return [{ channel: 'TELEGRAM', ...read }];
      using deadline = startDeadline(waitMs);
      try {
        const bot = await api.of(read.token).getMe(deadline.signal);
        return [{ channel: 'TELEGRAM', bot }];
      } catch (error) {
        if (!isTelegramError(error, 'unauthorized')) return [{ channel: 'TELEGRAM' }];
        const problem = `Telegram does not accept the token in the variable ${channel.token.env}.`;
        return [{ channel: 'TELEGRAM', problem }];
      }
    },

    async register(state, signal) {
      const token = await tokenOf(state.deploymentId);
      if (token === undefined) return REVOKED;
      try {
        if (state.externalId === null) {
          const me = await api.of(token).getMe(signal);
          if (!(await claim(state, me))) return CLAIMED;
        }
        await setWebhook(state, token, signal);
        return undefined;
      } catch (error) {
        if (isTelegramError(error, 'unauthorized')) return REVOKED;
        if (isTelegramError(error, 'rejected')) return BAD_ADDRESS;
        throw error;
      }
    },

    async leave({ deploymentId }, signal) {
      const token = await tokenOf(deploymentId);
      try {
        if (token !== undefined) await api.of(token).deleteWebhook(signal);
      } catch (error) {
        if (!isTelegramError(error, 'unauthorized')) throw error;
      }
      await prisma.channelState.updateMany({
        where: { deploymentId, channel: 'TELEGRAM', leaving: true },
        data: RELEASED,
      });
    },
  };
}
