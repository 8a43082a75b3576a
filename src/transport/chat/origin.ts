import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../../errors.ts';
import type { Bot } from '../../generated/prisma/client.ts';
import { hasOwnOrigin } from '../own-page.ts';

/**
 * Whether a visitor's request comes from a page of an allowed origin: that of the request's own host, that of the
 * server's public URL, or one of the bot's `webOrigins`.
 */
export type MayVisit = (request: FastifyRequest, bot: Pick<Bot, 'webOrigins'>) => boolean;

export function createMayVisit(publicUrl: string | undefined): MayVisit {
  const publicOrigin = publicUrl && new URL(publicUrl).origin;
  return (request, { webOrigins }) => {
    const { origin } = request.headers;
    if (origin === undefined) return false;
    if (hasOwnOrigin(request) || origin === publicOrigin) return true;
    return webOrigins.includes('*') || webOrigins.includes(origin);
  };
}

/** The error for a visitor's request from a page of another origin. */
export function visitRefused(): GatewayError {
  return new GatewayError(
    'bot_access_denied',
    "Visitors reach this bot only from pages of its own server and of the bot's webOrigins.",
  );
}
