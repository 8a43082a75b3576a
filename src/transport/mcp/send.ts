import type { FastifyReply } from 'fastify';
import { createEventWriter } from '../event-writer.ts';
import { hijack } from '../hijack.ts';

/** Sends a response of the library: JSON, or an event stream until its end. */
export async function sendResponse(
  reply: FastifyReply,
  response: Response,
  signal: AbortSignal,
): Promise<FastifyReply> {
  const { status, headers, body } = response;
  reply.code(status);
  for (const [name, value] of headers) reply.header(name, value);
  if (!body || !headers.get('content-type')?.startsWith('text/event-stream'))
    return reply.send(body ? await response.text() : undefined);
  const writer = createEventWriter(hijack(reply));
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const leave = () => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', leave, { once: true });
  reply.raw.flushHeaders();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read())
      await writer.write(next.value, signal);
  } finally {
    signal.removeEventListener('abort', leave);
    leave();
    writer.end();
  }
  return reply;
}
