import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../errors.ts';
import type { Context, Origin } from '../schema/context.ts';
import type { Authenticate } from './authenticate.ts';
import type { Connections } from './connections.ts';
import { credentialOf } from './console/own-page.ts';
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
  authenticate,
  limiter,
  connections,
}: {
  createContext(origin: Origin): Context;
  authenticate: Authenticate;
  limiter: Limiter;
  connections: Connections;
}): ContextOf {
  return async (request, reply, signal = clientSignal(reply)) => {
    const { admission } = request;
    const authentication =
      admission?.authentication ?? (await authenticate(credentialOf(request), request.ip));
    return createContext({
      authentication,
      bot: admission?.bot,
      signal,
      setHeader: (name, value) => reply.header(name, value),
      traceparent: request.headers.traceparent,
      take: async (cost) => {
        const quota = await limiter.take(authentication, request.ip, cost);
        reply.headers(quotaHeaders(quota));
        if (quota.allowed && !(authentication instanceof GatewayError)) {
          connections.trust(request.raw.socket);
        }
        return quota;
      },
    });
  };
}
