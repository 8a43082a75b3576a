import type { WebSocket } from '@fastify/websocket';
import type { FastifyRequest } from 'fastify';
import type { Server } from 'graphql-ws';
import { networkOf } from '../../accounts/client-network.ts';
import { startPeriodic } from '../../async/periodic.ts';
import { MAX_QUEUED_BYTES } from '../event-writer.ts';
import { createOperations, type Operations } from './open-operations.ts';
import { watchStall } from './stall.ts';
import { type Arrival, type ArrivalLimits, boundArrival } from './websocket-arrival.ts';
import { readMessage } from './websocket-message.ts';

/** An open WebSocket. The library passes it to each hook. */
export type WebSocketConnection = Arrival & {
  socket: WebSocket;
  request: FastifyRequest;
  operations: Operations;
};

/** Milliseconds between two pings. A client that answers none in this time is gone. */
const PING_MS = 12_000;

/**
 * Connects a socket to the library, which speaks the protocol. Bounds incoming bytes and messages, and terminates clients
 * that do not read, or that do not answer a ping.
 */
export function openConnection(
  server: Server<WebSocketConnection>,
  socket: WebSocket,
  request: FastifyRequest,
  { stallMs, ...limits }: ArrivalLimits & { stallMs: number },
): void {
  const owner = { kind: 'address' as const, id: networkOf(request.ip) };
  const arrival = boundArrival(socket, request.raw.socket, owner, limits);
  const operations = createOperations();
  if (socket.readyState >= socket.CLOSING) operations.cancelAll();
  socket.once('close', operations.cancelAll);
  const stall = watchStall(socket, stallMs);

  const cutOff = () => {
    if (socket.bufferedAmount <= MAX_QUEUED_BYTES) return false;
    socket.terminate();
    return true;
  };
  // Each ping of the client queues a pong.
  socket.on('ping', cutOff);

  let isAlive = true;
  const pinging = startPeriodic(
    () => {
      if (socket.readyState !== socket.OPEN) return;
      if (!isAlive) return socket.terminate();
      isAlive = false;
      socket.ping();
    },
    { everyMs: PING_MS },
  );
  socket.on('pong', () => {
    isAlive = true;
  });

  const fail = (err: unknown) => {
    request.log.error({ err }, 'A message of a WebSocket failed.');
    socket.close(1011, 'Internal server error');
  };

  const closed = server.opened(
    {
      protocol: socket.protocol,
      // A failed send is not reported, because the socket's `close` event follows.
      send: (text) =>
        new Promise((resolve) => {
          if (socket.readyState !== socket.OPEN || cutOff()) return resolve();
          stall.queued();
          socket.send(text, () => {
            stall.sent();
            resolve();
          });
        }),
      close: (code, reason) => socket.close(code, reason),
      onMessage: (receive) =>
        socket.on('message', (data) => {
          if (socket.readyState !== socket.OPEN) return;
          const message = readMessage(String(data), arrival.isAcknowledged());
          if (!message) return socket.close(4400, 'Invalid message received');
          // The library only ends operations that have started; cancel one that is still being admitted.
          if (message.completes !== undefined) operations.cancel(message.completes);
          receive(message.text).catch(fail);
        }),
    },
    { ...arrival, socket, request, operations },
  );
  socket.once('close', (code, reason) => {
    void pinging[Symbol.asyncDispose]();
    closed(code, String(reason)).catch(fail);
  });
}
