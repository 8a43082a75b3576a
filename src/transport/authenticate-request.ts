import type { FastifyRequest } from 'fastify';
import type { Caller } from '../accounts/caller.ts';
import { GatewayError } from '../errors/errors.ts';
import { type Authenticate, senderOf } from './authenticate.ts';
import { mayVisit, visitRefused } from './chat/origin.ts';
import { credentialOf } from './own-page.ts';

/**
 * Authenticates a GraphQL request. A visitor's token counts only for pages of allowed origins.
 *
 * @param credential defaults to the request's `Authorization` header. A WebSocket authenticates again for each operation.
 * @returns as `Authenticate`, or the error `bot_access_denied` for a page of another origin.
 */
export type AuthenticateRequest = (
  request: FastifyRequest,
  credential?: unknown,
) => Promise<Caller | GatewayError>;

export function createAuthenticateRequest({
  authenticate,
}: {
  authenticate: Authenticate;
}): AuthenticateRequest {
  return async (request, credential) => {
    const found =
      request.ws || credential !== undefined
        ? await authenticate(credential ?? credentialOf(request), request.ip)
        : await senderOf(request, authenticate);
    if (found instanceof GatewayError) return found;
    const bot = found.session?.visited;
    return bot && !mayVisit(request, bot) ? visitRefused() : found;
  };
}
