import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { startDeadline } from '../deadline.ts';
import type { GatewayError } from '../errors.ts';
import type { Reading } from './reading.ts';

/** The responses that are not fully sent. */
export type OpenAnswers = {
  /** The open responses on a connection, in request order. */
  on(socket: Socket): ServerResponse[];
  /** The latest request on a connection. */
  latest(socket: Socket): LatestRequest | undefined;
  /**
   * Closes each connection after its last open response, and idle connections at once. The last response carries
   * `Connection: close` if its headers are not yet sent.
   */
  closeConnections(): void;
  /** Registers an event stream that ends with its run, so that the drain waits for it. */
  endsWith(stream: ServerResponse, reading: Reading): void;
  /** Waits until all finite responses are sent, at most `limitMs`. */
  sent(limitMs: number): Promise<void>;
  /** Ends the registered event streams that are still open. Their readers receive the reason. */
  endStreams(reason: GatewayError): void;
};

/** The latest request on a connection, possibly incomplete. */
export type LatestRequest = {
  request: IncomingMessage;
  /** Why the rest of its body will not arrive. */
  brokenBy?: GatewayError;
};

type Connection = {
  /** Each open response, with the reading of a registered event stream. */
  answers: Map<ServerResponse, Reading | undefined>;
  latest: LatestRequest;
};

/** Tracks a server's responses, so that it can shut down without cutting one. */
export function trackAnswers(app: FastifyInstance): OpenAnswers {
  const connections = new Map<Socket, Connection>();
  const open = () => [...connections.values()].flatMap(({ answers }) => [...answers]);

  /** An unregistered event stream with an empty buffer may stay open forever, so the drain does not wait for it. */
  const hasEnd = ([answer, reading]: [ServerResponse, Reading | undefined]) =>
    reading || !isEventStream(answer) || hasMoreToSend(answer);

  /** The server's own `closeIdleConnections()` would cut responses that are complete but not fully sent. */
  const closeBehindLast = (socket: Socket) => {
    const answers = connections.get(socket)?.answers;
    if (!answers) return;
    const last = [...answers.keys()].at(-1);
    if (!last) socket.destroySoon();
    for (const answer of answers.keys()) answer.shouldKeepAlive = answer !== last;
  };

  let isClosing = false;
  app.server.on('request', (request: IncomingMessage, answer: ServerResponse) => {
    const { socket } = request;
    const connection = connections.get(socket);
    if (connection) {
      connection.answers.set(answer, undefined);
      connection.latest = { request };
    } else {
      connections.set(socket, { answers: new Map([[answer, undefined]]), latest: { request } });
      socket.once('close', () => connections.delete(socket));
    }
    if (isClosing) closeBehindLast(socket);
    answer.once('close', () => {
      connections.get(socket)?.answers.delete(answer);
      if (isClosing) closeBehindLast(socket);
    });
  });
  // An upgraded connection carries no more HTTP responses.
  app.server.on('upgrade', ({ socket }: IncomingMessage) => connections.delete(socket));

  return {
    on: (socket) => [...(connections.get(socket)?.answers.keys() ?? [])],

    latest: (socket) => connections.get(socket)?.latest,

    closeConnections() {
      isClosing = true;
      for (const socket of connections.keys()) closeBehindLast(socket);
    },

    endsWith(stream, reading) {
      const answers = connections.get(stream.req.socket)?.answers;
      if (answers?.has(stream)) answers.set(stream, reading);
    },

    async sent(limitMs) {
      const ends = open()
        .filter(hasEnd)
        .map(([answer]) => ended(answer));
      using deadline = startDeadline(limitMs);
      await Promise.race([Promise.all(ends), once(deadline.signal, 'abort')]);
    },

    endStreams(reason) {
      for (const [, reading] of open()) reading?.end(reason);
    },
  };
}

/** Waits until a response is sent, or its connection is closed. */
export function ended(answer: ServerResponse): Promise<unknown> {
  return new Promise((resolve) => answer.once('close', resolve));
}

function hasMoreToSend({ writableEnded, writableLength }: ServerResponse): boolean {
  return writableEnded || writableLength > 0;
}

function isEventStream(answer: ServerResponse): boolean {
  return String(answer.getHeader('content-type')).startsWith('text/event-stream');
}
