import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../schema/context.ts';

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
