import type { FastifyReply } from 'fastify';
import type { Response } from 'graphql-sse';
import { createEventWriter, type EventReader } from '../event-writer.ts';
import { hijack } from '../hijack.ts';
import type { OpenStreams } from '../stream-drain.ts';
import type { EventStream } from './single-connection.ts';

/** How long a client waits before it connects again, in the syntax of event streams. Source: the HTML standard, 9.2.6. */
const RETRY = 'retry: 1000\n\n';

/** Sends a response of the library: an answer, or a stream until its end. */
export async function sendResponse(
  reply: FastifyReply,
  [body, { status, headers }]: Response,
  reader: Pick<EventReader, 'sent'>,
  streams: OpenStreams,
) {
  if (body && typeof body !== 'string') return sendStream(reply, body, reader, streams);
  return reply
    .code(status)
    .headers(headers ?? {})
    .send(body ?? undefined);
}

/** Sends a stream until it ends, the client disconnects, or the server shuts down. */
export async function sendStream(
  reply: FastifyReply,
  stream: EventStream,
  reader: Pick<EventReader, 'sent'>,
  streams: OpenStreams,
) {
  const raw = hijack(reply);
  const { write, end } = createEventWriter(raw);
  const leave = () => void stream.return();
  raw.once('close', leave);
  const remove = streams.add(() => {
    if (raw.headersSent) void write(RETRY);
    leave();
  });
  try {
    for await (const text of stream) {
      if (raw.destroyed) break;
      await write(text);
      reader.sent();
    }
    end();
  } catch (error) {
    raw.destroy();
    throw error;
  } finally {
    remove();
  }
  return reply;
}
