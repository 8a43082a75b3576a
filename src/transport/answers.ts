import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** The answers that are on their way to clients. */
export type OpenAnswers = {
  /** Those on a connection that have not ended, in their order. */
  on(socket: Socket): ServerResponse[];
  /** The request that came last on a connection, as far as it has come. */
  latest(socket: Socket): IncomingMessage | undefined;
  /** Waits until all that have an end have left, `limitMs` at most. */
  sent(limitMs: number): Promise<void>;
};

type Connection = { answers: Set<ServerResponse>; latest: IncomingMessage };

/** Keeps count of a server's answers, so that it can stop without cutting one. */
export function trackAnswers(app: FastifyInstance): OpenAnswers {
  const connections = new Map<Socket, Connection>();
  app.server.on('request', (request: IncomingMessage, answer: ServerResponse) => {
    const { socket } = request;
    const connection = connections.get(socket);
    if (connection) {
      connection.answers.add(answer);
      connection.latest = request;
    } else {
      connections.set(socket, { answers: new Set([answer]), latest: request });
      socket.once('close', () => connections.delete(socket));
    }
    answer.once('close', () => connections.get(socket)?.answers.delete(answer));
  });

  return {
    on: (socket) => [...(connections.get(socket)?.answers ?? [])],

    latest: (socket) => connections.get(socket)?.latest,

    async sent(limitMs) {
      const ends = [...connections.values()]
        .flatMap(({ answers }) => [...answers])
        .filter((answer) => !isEventStream(answer) || hasMoreToSend(answer))
        .map(ended);
      const limit = Promise.withResolvers<void>();
      const timer = setTimeout(limit.resolve, limitMs);
      await Promise.race([Promise.all(ends), limit.promise]);
      clearTimeout(timer);
    },
  };
}

/** Waits until an answer has left, or cannot leave any more. */
export function ended(answer: ServerResponse): Promise<unknown> {
  return new Promise((resolve) => answer.once('close', resolve));
}

function hasMoreToSend({ writableEnded, writableLength }: ServerResponse): boolean {
  return writableEnded || writableLength > 0;
}

/** A stream of events that has nothing to send waits for its client, not for us. */
function isEventStream(answer: ServerResponse): boolean {
  return String(answer.getHeader('content-type')).startsWith('text/event-stream');
}
