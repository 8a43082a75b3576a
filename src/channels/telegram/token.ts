import { createHmac } from 'node:crypto';
import type { EnvironmentVariables } from '../../deployments/environment.ts';
import type { Definition, TelegramChannel } from '../../language/definition.ts';

/** The id of the bot, a colon, and a secret. */
const TOKEN = /^\d{1,19}:[\w-]{20,100}$/;

export function telegramOf({ channels }: Definition): TelegramChannel | undefined {
  return channels.find((channel) => channel.type === 'telegram');
}

/** @returns the token of a channel, or why there is none, a sentence. */
export function readToken(
  { token: { env } }: TelegramChannel,
  variables: EnvironmentVariables,
): { token: string } | { problem: string } {
  const token = variables[env];
  if (token === undefined) return { problem: `The variable ${env} has no value.` };
  if (TOKEN.test(token)) return { token };
  return { problem: `The variable ${env} is not a token of a Telegram bot.` };
}

/**
 * The address and the secret of a deployment's webhook. They are derived from the token, so that they need not be stored
 * to be sent again, and so that nothing of the token can be derived from them.
 */
export function webhookOf(token: string, deploymentId: string): { path: string; secret: string } {
  const derive = (purpose: string) =>
    createHmac('sha256', token).update(`parley ${purpose} ${deploymentId}`).digest('base64url');
  return { path: derive('webhook path'), secret: derive('webhook secret') };
}
