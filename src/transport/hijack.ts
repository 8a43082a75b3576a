import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** The headers of every event stream. Caches must not store it, and proxies must not buffer it. */
const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

/** Detaches a reply from Fastify so that it can be streamed. The headers are set, and sent with the first write. */
export function takeOver(reply: FastifyReply): ServerResponse {
  reply.hijack();
  for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...STREAM_HEADERS })) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  return reply.raw;
}
