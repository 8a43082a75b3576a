import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { GatewayError } from '../errors.ts';
import type { Reading } from './reading.ts';

/** The answers that are on their way to clients. */
export type OpenAnswers = {
  /** Those on a connection that have not ended, in their order. */
  on(socket: Socket): ServerResponse[];
  /** The request that came last on a connection, as far as it has come. */
  latest(socket: Socket): IncomingMessage | undefined;
  /**
   * Has each connection end with the last of its answers, which says so where its headers have not left; those that have
   * had theirs end at once.
   */
  closeConnections(): void;
  /** Notes what is read by a stream of events that comes to an end by itself, and so is waited for too. */
  endsWith(stream: ServerResponse, reading: Reading): void;
  /** Waits until all that have an end have left, `limitMs` at most. */
  sent(limitMs: number): Promise<void>;
  /** Ends what is read by streams that are still waited for, and tells their readers why. */
  endStreams(reason: GatewayError): void;
};

type Connection = { answers: Set<ServerResponse>; latest: IncomingMessage };

/** Keeps count of a server's answers, so that it can stop without cutting one. */
export function trackAnswers(app: FastifyInstance): OpenAnswers {
  const connections = new Map<Socket, Connection>();
  const readings = new WeakMap<ServerResponse, Reading>();
  const open = () => [...connections.values()].flatMap(({ answers }) => [...answers]);

  /** Any other stream of events that has nothing to send waits for its client, not for us. */
  const hasEnd = (answer: ServerResponse) =>
    readings.has(answer) || !isEventStream(answer) || hasMoreToSend(answer);

  /** Not by the server's own `closeIdleConnections()`, which cuts answers that are whole but have not all left. */
  const closeBehindLast = (socket: Socket) => {
    const answers = connections.get(socket)?.answers;
    if (!answers) return;
    const last = [...answers].at(-1);
    if (!last) socket.destroySoon();
    for (const answer of answers) answer.shouldKeepAlive = answer !== last;
  };

  let isClosing = false;
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
    if (isClosing) closeBehindLast(socket);
    answer.once('close', () => {
      connections.get(socket)?.answers.delete(answer);
      if (isClosing) closeBehindLast(socket);
    });
  });
  // A WebSocket is no connection of answers any more.
  app.server.on('upgrade', ({ socket }: IncomingMessage) => connections.delete(socket));

  return {
    on: (socket) => [...(connections.get(socket)?.answers ?? [])],

    latest: (socket) => connections.get(socket)?.latest,

    closeConnections() {
      isClosing = true;
      for (const socket of connections.keys()) closeBehindLast(socket);
    },

    endsWith: (stream, reading) => void readings.set(stream, reading),

    async sent(limitMs) {
      const ends = open().filter(hasEnd).map(ended);
      const limit = Promise.withResolvers<void>();
      const timer = setTimeout(limit.resolve, limitMs);
      await Promise.race([Promise.all(ends), limit.promise]);
      clearTimeout(timer);
    },

    endStreams(reason) {
      for (const answer of open()) readings.get(answer)?.end(reason);
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

function isEventStream(answer: ServerResponse): boolean {
  return String(answer.getHeader('content-type')).startsWith('text/event-stream');
}
