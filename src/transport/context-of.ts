import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../errors/errors.ts';
import type { Entrance } from '../generated/prisma/client.ts';
import type { Context, Origin } from '../schema/context.ts';
import type { AuthenticateRequest } from './authenticate-request.ts';
import type { Connections } from './connections.ts';
import { clientSignal } from './http.ts';
import type { Limiter } from './rate-limit.ts';
import { quotaHeaders } from './request-admission.ts';

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

/** @returns a function that makes the `ContextOf` of an interface. */
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
}): (entrance: Entrance) => ContextOf {
  return (entrance) =>
    async (request, reply, signal = clientSignal(reply)) => {
      const { admission } = request;
      const authentication = admission?.authentication ?? (await authenticateRequest(request));
      return createContext({
        authentication,
        address: request.ip,
        bot: admission?.bot,
        signal,
        setHeader: (name, value) => reply.header(name, value),
        traceparent: request.headers.traceparent,
        entrance,
        userAgent: request.headers['user-agent'],
        take: async (cost, options) => {
          const quota = await limiter.takeOperation(authentication, request.ip, cost, options);
          reply.headers(quotaHeaders(quota));
          if (quota.allowed && !(authentication instanceof GatewayError)) {
            connections.trust(request.raw.socket, authentication);
          }
          return quota;
        },
      });
    };
}
