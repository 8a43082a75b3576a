import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** The answers that are on their way to clients. */
export type OpenAnswers = {
  /** Whether an answer on this connection has begun and not ended. */
  isAnswering(socket: Socket): boolean;
  /** Waits until all that have an end have left, `limitMs` at most. */
  sent(limitMs: number): Promise<void>;
};

/** Keeps count of a server's answers, so that it can stop without cutting one. */
export function trackAnswers(app: FastifyInstance): OpenAnswers {
  const open = new Set<ServerResponse>();
  app.addHook('onRequest', async (_request, { raw }) => {
    open.add(raw);
    raw.once('close', () => open.delete(raw));
  });

  return {
    isAnswering: (socket) => [...open].some((answer) => answer.socket === socket),

    async sent(limitMs) {
      const ends = [...open]
        .filter((answer) => !isEventStream(answer) || hasMoreToSend(answer))
        .map((answer) => new Promise((resolve) => answer.once('close', resolve)));
      const limit = Promise.withResolvers<void>();
      const timer = setTimeout(limit.resolve, limitMs);
      await Promise.race([Promise.all(ends), limit.promise]);
      clearTimeout(timer);
    },
  };
}

function hasMoreToSend({ writableEnded, writableLength }: ServerResponse): boolean {
  return writableEnded || writableLength > 0;
}

/** A stream of events that has nothing to send waits for its client, not for us. */
function isEventStream(answer: ServerResponse): boolean {
  return String(answer.getHeader('content-type')).startsWith('text/event-stream');
}
