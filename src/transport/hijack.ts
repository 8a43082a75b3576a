import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** What every stream of events says of itself: it is not to be kept, and not to be held back by a proxy. */
const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

/** Takes an answer over from the server, to stream it; it has its headers, which leave with the first text. */
export function takeOver(reply: FastifyReply): ServerResponse {
  reply.hijack();
  for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...STREAM_HEADERS })) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  return reply.raw;
}
