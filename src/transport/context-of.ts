import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../errors/errors.ts';
import type { Context, Origin } from '../schema/context.ts';
import type { AuthenticateRequest } from './authenticate-request.ts';
import type { Connections } from './connections.ts';
import { clientSignal } from './http.ts';
import { type Limiter, quotaHeaders } from './rate-limit.ts';

/**
 * Creates the GraphQL context of an operation received over HTTP.
 *
 * @param signal aborted when the client disconnects. Default: when this response closes unfinished.
 */
export type ContextOf = (
  request: FastifyRequest,
  reply: FastifyReply,
  signal?: AbortSignal,
) => Promise<Context>;

export function createContextOf({
  createContext,
  authenticateRequest,
  limiter,
  connections,
}: {
  createContext(origin: Origin): Context;
  authenticateRequest: AuthenticateRequest;
  limiter: Limiter;
  connections: Connections;
}): ContextOf {
  return async (request, reply, signal = clientSignal(reply)) => {
    const { admission } = request;
    const authentication = admission?.authentication ?? (await authenticateRequest(request));
    return createContext({
      authentication,
      address: request.ip,
      bot: admission?.bot,
      signal,
      setHeader: (name, value) => reply.header(name, value),
      traceparent: request.headers.traceparent,
      take: async (cost) => {
        const quota = await limiter.take(authentication, request.ip, cost);
        reply.headers(quotaHeaders(quota));
        if (quota.allowed && !(authentication instanceof GatewayError)) {
          connections.trust(request.raw.socket, authentication);
        }
        return quota;
      },
    });
  };
}
