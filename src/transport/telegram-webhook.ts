import type { FastifyInstance } from 'fastify';
import type { Limits } from '../accounts/limits.ts';
import type { Receiver } from '../channels/telegram/receive.ts';
import type { TelegramWebhook } from '../channels/telegram/webhook.ts';
import { GatewayError } from '../errors/errors.ts';
import type { Limiter } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The receiver of a Telegram update; `null` for other requests. */
    telegramReceiver: Receiver | null;
  }
}

type Options = {
  webhook: TelegramWebhook;
  limits: Pick<Limits, 'originOf'>;
  limiter: Limiter;
};

/**
 * Serves the webhooks of Telegram. An update is stored, and answered at once; the reply follows by the Bot API. A request
 * without the secret of its path is refused before its body is read, and counts against its address.
 */
export async function serveTelegramWebhook(
  app: FastifyInstance,
  { webhook, limits, limiter }: Options,
) {
  app.decorateRequest('telegramReceiver', null);
  app.post<{ Params: { path: string } }>(
    '/channels/telegram/:path',
    {
      config: { secretPath: true },
      onRequest: async (request) => {
        const { 'x-telegram-bot-api-secret-token': secret } = request.headers;
        const origin = limits.originOf(request.ip);
        const receiver = await webhook.authenticate(request.params.path, secret, origin);
        if (!receiver) throw await limiter.refuse(request, wrongSecret());
        request.telegramReceiver = receiver;
        request.bodyOwner = { kind: 'account', id: receiver.botId };
      },
    },
    async ({ telegramReceiver, body }) => {
      if (telegramReceiver) await webhook.receive(telegramReceiver, body);
      return {};
    },
  );
}

function wrongSecret(): GatewayError {
  return new GatewayError('invalid_api_key', 'The path or the secret of this webhook is wrong.');
}
