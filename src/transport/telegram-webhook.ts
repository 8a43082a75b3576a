import type { FastifyInstance, FastifyRequest } from 'fastify';
import { rateLimitExceeded } from '../accounts/limits.ts';
import type { Receiver } from '../channels/telegram/receive.ts';
import type { TelegramWebhook } from '../channels/telegram/webhook.ts';
import { GatewayError } from '../errors.ts';
import type { Limiter } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The receiver of a Telegram update; `null` for other requests. */
    telegramReceiver: Receiver | null;
  }
}

type Options = { webhook: TelegramWebhook; limiter: Limiter };

/**
 * Serves the webhooks of Telegram. An update is stored, and answered at once; the reply follows by the Bot API. A request
 * without the secret of its path is refused before its body is read, and counts against its address.
 */
export async function serveTelegramWebhook(app: FastifyInstance, { webhook, limiter }: Options) {
  app.decorateRequest('telegramReceiver', null);
  app.post<{ Params: { path: string } }>(
    '/channels/telegram/:path',
    {
      config: { secretPath: true },
      onRequest: async (request) => {
        const { 'x-telegram-bot-api-secret-token': secret } = request.headers;
        const receiver = await webhook.authenticate(request.params.path, secret);
        if (!receiver) throw await refusal(request, limiter);
        request.telegramReceiver = receiver;
      },
    },
    async ({ telegramReceiver, body }) => {
      if (telegramReceiver) await webhook.receive(telegramReceiver, body);
      return {};
    },
  );
}

async function refusal({ ip }: FastifyRequest, limiter: Limiter): Promise<GatewayError> {
  const message = 'The path or the secret of this webhook is wrong.';
  const error = new GatewayError('invalid_api_key', message);
  const quota = await limiter.take(error, ip, 1);
  return quota.allowed ? error : rateLimitExceeded(quota);
}
