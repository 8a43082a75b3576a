import type { WebSocket, WebsocketHandler } from '@fastify/websocket';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { networkOf } from '../../accounts/client-network.ts';
import { isJsonObject, type JsonObject } from '../../text/json.ts';
import type { BodyOwner } from '../body-memory.ts';
import { MAX_QUEUED_BYTES } from './backpressure.ts';
import { createOperations, MAX_ID_LENGTH, type Operations } from './open-operations.ts';
import { watchStall } from './stall.ts';
import {
  type Arrival,
  type ArrivalLimits,
  boundArrival,
  MAX_UNACKNOWLEDGED_BYTES,
} from './websocket-arrival.ts';

/** What Parley knows of an open WebSocket. */
export type OpenSocket = Arrival & { operations: Operations };

declare module 'fastify' {
  interface FastifyRequest {
    /** The WebSocket that the request was upgraded to. */
    openSocket: OpenSocket | null;
  }
}

/** The state of a guarded WebSocket, by its upgrade request. */
export function socketOf({ openSocket }: FastifyRequest): OpenSocket {
  if (!openSocket) throw new Error('The request was not upgraded.');
  return openSocket;
}

function openSocket(socket: WebSocket, arrival: Arrival): OpenSocket {
  const operations = createOperations();
  if (socket.readyState >= socket.CLOSING) operations.cancelAll();
  socket.once('close', operations.cancelAll);
  return { ...arrival, operations };
}

/**
 * Guards a socket before the library sees it. It bounds incoming bytes and messages, terminates clients that do not read,
 * and sends socket errors to the log, because the library prints them to the console.
 */
export function guarded(
  handler: WebsocketHandler,
  { stallMs, ...limits }: ArrivalLimits & { stallMs: number },
): WebsocketHandler {
  return function (socket, request) {
    const owner: BodyOwner = { kind: 'address', id: networkOf(request.ip) };
    const state = openSocket(socket, boundArrival(socket, request.raw.socket, owner, limits));
    request.openSocket = state;
    const cutOff = () => {
      if (socket.bufferedAmount <= MAX_QUEUED_BYTES) return false;
      socket.terminate();
      return true;
    };
    const send = socket.send.bind(socket);
    const on = socket.on.bind(socket);
    const stall = watchStall(socket, stallMs);
    Object.assign(socket, {
      // A failed send is not reported, because the socket's `close` event follows.
      send(data: string, sent: () => void) {
        if (cutOff()) return sent();
        stall.queued();
        send(data, () => {
          stall.sent();
          sent();
        });
      },
      on: (event: string, listener: (data: unknown) => void) =>
        on(event, event === 'message' ? validateMessages(socket, state, listener) : listener),
    });
    handler.call(this, socket, request);
    Object.assign(socket, { on });
    socket.on('ping', cutOff);
    socket.removeAllListeners('error');
    socket.on('error', ({ message }) => request.log.debug(`WebSocket failed: ${message}`));
  };
}

/** Characters of a message other than `subscribe`. */
const MAX_SMALL_MESSAGE = MAX_UNACKNOWLEDGED_BYTES;

/** Validates each message, then passes it to the library as text. An invalid one closes the connection with 4400. */
function validateMessages(socket: WebSocket, state: OpenSocket, listener: (data: unknown) => void) {
  return (data: unknown) => {
    if (socket.readyState !== socket.OPEN) return;
    try {
      const text = String(data);
      const isSmall = text.length <= MAX_SMALL_MESSAGE;
      if (!isSmall && !state.isAcknowledged()) throw new Error('The message is too long.');
      const message: unknown = JSON.parse(text);
      if (!isSmall && !isSubscribe(message)) throw new Error('The message is too long.');
      const { data: complete } = completeMessage.safeParse(message);
      // The library only ends operations that have started; cancel one that is still being admitted.
      if (complete) state.operations.cancel(complete.id);
      const read = readMessage(message);
      listener(read === message ? text : JSON.stringify(read));
    } catch {
      socket.close(4400, 'Invalid message received');
    }
  };
}

/** Source: the graphql-ws protocol, "Complete". */
const completeMessage = z.object({ type: z.literal('complete'), id: z.string() });

function isSubscribe(message: unknown): message is JsonObject {
  return isJsonObject(message) && message.type === 'subscribe';
}

/** Messages that only servers send. The library would treat them as internal errors. Source: the graphql-ws protocol. */
const FROM_SERVERS: unknown[] = ['connection_ack', 'next', 'error'];

/**
 * Validates a message. The library rejects a `subscribe` without `query`, so one with only a `documentId` gets an empty
 * `query`.
 *
 * @throws Error for an invalid message.
 */
function readMessage(message: unknown): unknown {
  if (!isJsonObject(message)) return message;
  if (FROM_SERVERS.includes(message.type)) throw new Error('Only servers send this message.');
  if (!isSubscribe(message)) return message;
  const { id, payload } = message;
  if (String(id).length > MAX_ID_LENGTH) throw new Error('The id of the operation is too long.');
  if (!isJsonObject(payload) || payload.query !== undefined || payload.documentId == null) {
    return message;
  }
  return { ...message, payload: { ...payload, query: '' } };
}
