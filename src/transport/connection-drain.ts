import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { withinTime } from '../async/deadline.ts';
import type { GatewayError } from '../errors/errors.ts';
import type { StreamRead } from './reading.ts';

/** The responses that are not fully sent. */
export type OpenResponses = {
  /** The open responses on a connection, in request order. */
  on(socket: Socket): ServerResponse[];
  /** The latest request on a connection, possibly incomplete. */
  latest(socket: Socket): IncomingMessage | undefined;
  /**
   * Closes each connection after its last open response, and idle connections at once. The last response carries
   * `Connection: close` if its headers are not yet sent.
   */
  closeConnections(): void;
  /** Registers an event stream that ends with its run, so that the drain waits for it. */
  endsWith(stream: ServerResponse, streamRead: StreamRead): void;
  /** Waits until all finite responses are sent, at most `limitMs`. */
  sent(limitMs: number): Promise<void>;
  /**
   * The functions that each end one of the registered event streams that are still open. Their readers receive the
   * reason.
   */
  streamEnds(reason: GatewayError): (() => void)[];
};

type Connection = {
  /** Each open response, with the read of a registered event stream. */
  responses: Map<ServerResponse, StreamRead | undefined>;
  latest: IncomingMessage;
};

/** Tracks a server's responses, so that it can shut down without cutting one. */
export function trackResponses(app: FastifyInstance): OpenResponses {
  const connections = new Map<Socket, Connection>();
  const open = () => [...connections.values()].flatMap(({ responses }) => [...responses]);

  /** An unregistered event stream with an empty buffer may stay open forever, so the drain does not wait for it. */
  const hasEnd = ([response, streamRead]: [ServerResponse, StreamRead | undefined]) =>
    streamRead || !isEventStream(response) || hasMoreToSend(response);

  /** The server's own `closeIdleConnections()` would cut responses that are complete but not fully sent. */
  const closeBehindLast = (socket: Socket) => {
    const responses = connections.get(socket)?.responses;
    if (!responses) return;
    const last = [...responses.keys()].at(-1);
    if (!last) socket.destroySoon();
    for (const response of responses.keys()) response.shouldKeepAlive = response !== last;
  };

  let isClosing = false;
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const connection = connections.get(socket);
    if (connection) {
      connection.responses.set(response, undefined);
      connection.latest = request;
    } else {
      connections.set(socket, { responses: new Map([[response, undefined]]), latest: request });
      socket.once('close', () => connections.delete(socket));
    }
    if (isClosing) closeBehindLast(socket);
    response.once('close', () => {
      connections.get(socket)?.responses.delete(response);
      if (isClosing) closeBehindLast(socket);
    });
  });
  // An upgraded connection carries no more HTTP responses.
  app.server.on('upgrade', ({ socket }: IncomingMessage) => connections.delete(socket));

  return {
    on: (socket) => [...(connections.get(socket)?.responses.keys() ?? [])],

    latest: (socket) => connections.get(socket)?.latest,

    closeConnections() {
      isClosing = true;
      for (const socket of connections.keys()) closeBehindLast(socket);
    },

    endsWith(stream, streamRead) {
      const responses = connections.get(stream.req.socket)?.responses;
      if (responses?.has(stream)) responses.set(stream, streamRead);
    },

    async sent(limitMs) {
      const ends = open()
        .filter(hasEnd)
        .map(([response]) => ended(response));
      await withinTime(limitMs, Promise.all(ends)).catch(() => {});
    },

    streamEnds: (reason) =>
      open().flatMap(([, streamRead]) => (streamRead ? [() => streamRead.end(reason)] : [])),
  };
}

/** Waits until a response is sent, or its connection is closed. */
export function ended(response: ServerResponse): Promise<unknown> {
  return new Promise((resolve) => response.once('close', resolve));
}

function hasMoreToSend({ writableEnded, writableLength }: ServerResponse): boolean {
  return writableEnded || writableLength > 0;
}

function isEventStream(response: ServerResponse): boolean {
  return String(response.getHeader('content-type')).startsWith('text/event-stream');
}
