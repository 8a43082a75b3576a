import { createHash, timingSafeEqual } from 'node:crypto';
import type { PrismaClient } from '../../generated/prisma/client.ts';
import type { Receive, Receiver } from './receive.ts';
import type { Registration } from './registration.ts';
import { webhookOf } from './token.ts';

/** The webhooks of the connected deployments. */
export type TelegramWebhook = {
  /**
   * Checks the secret of a request, in constant time.
   *
   * @param path the last segment of the request's path.
   * @param secret the value of its header `X-Telegram-Bot-Api-Secret-Token`.
   * @returns the receiver of its update; `undefined` if the path or the secret is wrong.
   */
  authenticate(path: string, secret: unknown): Promise<Receiver | undefined>;
  receive: Receive;
};

export function createWebhook({
  prisma,
  registration,
  receive,
}: {
  prisma: PrismaClient;
  registration: Pick<Registration, 'tokenOf'>;
  receive: Receive;
}): TelegramWebhook {
  return {
    async authenticate(path, secret) {
      if (typeof secret !== 'string' || !/^[\w-]{43}$/.test(path)) return undefined;
      // A message may arrive before the deploy has stored that Telegram confirmed the webhook.
      const state = await prisma.channelState.findUnique({
        where: { webhookPath: path, status: { in: ['PENDING', 'CONNECTED'] } },
      });
      if (!state?.externalId || !state.externalName) return undefined;
      const token = await registration.tokenOf(state.deploymentId);
      if (token === undefined) return undefined;
      if (!isSame(secret, webhookOf(token, state.deploymentId).secret)) return undefined;
      const { botId, environment, externalId: id, externalName: name } = state;
      return { botId, environment, id, name };
    },
    receive,
  };
}

/** Compares digests, which have the same length. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
