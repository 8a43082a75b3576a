import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../schema/context.ts';

/**
 * Makes the context of an operation that comes by HTTP.
 *
 * @param signal aborted when the client has gone; by default when this very answer has lost its reader.
 */
export type ContextOf = (
  request: FastifyRequest,
  reply: FastifyReply,
  signal?: AbortSignal,
) => Promise<Context>;
