import { createHash, timingSafeEqual } from 'node:crypto';
import type { KeyLookups, KeyOrigin } from '../../accounts/key-lookup.ts';
import type { PrismaClient } from '../../generated/prisma/client.ts';
import type { Receive, Receiver } from './receive.ts';
import type { Registration } from './registration.ts';
import { webhookOf } from './token.ts';

/** The form of a path and of a secret: SHA-256 in base64url. */
const FORM = /^[\w-]{43}$/;

/** The webhooks of the connected deployments. */
export type TelegramWebhook = {
  /**
   * Checks the secret of a request, in constant time. The path and the secret are checked for their form first, then the
   * path is looked up.
   *
   * @param path the last segment of the request's path.
   * @param secret the value of its header `X-Telegram-Bot-Api-Secret-Token`.
   * @returns the receiver of its update; `undefined` if the path or the secret is wrong.
   */
  authenticate(path: string, secret: unknown, origin?: KeyOrigin): Promise<Receiver | undefined>;
  receive: Receive;
};

export function createWebhook({
  prisma,
  lookUps,
  registration,
  receive,
}: {
  prisma: PrismaClient;
  lookUps: KeyLookups;
  registration: Pick<Registration, 'tokenOf'>;
  receive: Receive;
}): TelegramWebhook {
  // A message may arrive before the deploy has stored that Telegram confirmed the webhook.
  const status = { in: ['PENDING' as const, 'CONNECTED' as const] };
  const lookUp = lookUps({
    findOne: (webhookPath) => prisma.channelState.findUnique({ where: { webhookPath, status } }),
    findMany: async (paths) => {
      const where = { webhookPath: { in: paths }, status };
      const states = await prisma.channelState.findMany({ where });
      return new Map(states.map((state) => [state.webhookPath ?? '', state]));
    },
  });

  return {
    async authenticate(path, secret, origin = {}) {
      if (typeof secret !== 'string' || !FORM.test(secret) || !FORM.test(path)) return undefined;
      const state = await lookUp(path, origin);
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
