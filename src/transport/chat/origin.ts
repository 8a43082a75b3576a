import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../../errors/errors.ts';
import type { Bot } from '../../generated/prisma/client.ts';
import { hasOwnOrigin } from '../own-page.ts';

/**
 * Whether a visitor's request comes from a page of an allowed origin: the server's own, or one
 * of the bot's `webOrigins`.
 */
export function mayVisit(
  request: FastifyRequest,
  { webOrigins }: Pick<Bot, 'webOrigins'>,
): boolean {
  const { origin } = request.headers;
  if (origin === undefined) return false;
  return hasOwnOrigin(request) || webOrigins.includes('*') || webOrigins.includes(origin);
}

/** The error for a bot without a chat page. */
export function nothingHere(): GatewayError {
  return new GatewayError('not_found', 'There is no chat page here.');
}

/** The error for a visitor's request from a page of another origin. */
export function visitRefused(): GatewayError {
  return new GatewayError(
    'bot_access_denied',
    "Visitors reach this bot only from pages of its own server and of the bot's webOrigins. Behind a proxy, set TRUST_PROXY or PUBLIC_URL.",
  );
}
