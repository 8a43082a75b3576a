import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** The headers of every event stream. Caches must not store it, and proxies must not buffer it. */
const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

/** Detaches a reply from Fastify so that it can be streamed. The headers are set, and sent with the first write. */
export function hijack(reply: FastifyReply): ServerResponse {
  return detach(reply, STREAM_HEADERS);
}

/** Sends 204. Fastify would add a `Content-Length` for HEAD, which RFC 9110, section 8.6, forbids with this status. */
export function sendNoContent(reply: FastifyReply): FastifyReply {
  reply.code(204);
  detach(reply).end();
  return reply;
}

function detach(reply: FastifyReply, more: Record<string, string> = {}): ServerResponse {
  reply.hijack();
  const { raw, statusCode } = reply;
  raw.statusCode = statusCode;
  for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...more })) {
    if (value !== undefined) raw.setHeader(name, value);
  }
  return raw;
}
