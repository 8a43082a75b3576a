import websocket, { type WebSocket, type WebsocketHandler } from '@fastify/websocket';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { execute, GraphQLError } from 'graphql';
import { makeHandler } from 'graphql-ws/use/@fastify/websocket';
import { z } from 'zod';
import { createConcurrencyLimit } from '../../accounts/concurrency-limit.ts';
import type { Keys } from '../../accounts/keys.ts';
import { GatewayError, toGatewayError } from '../../errors.ts';
import { isJsonObject, type JsonObject } from '../../json.ts';
import type { Context, Origin } from '../../schema/context.ts';
import type { Authenticate } from '../authenticate.ts';
import { CONNECTION_LIMITS, type Connections } from '../connections.ts';
import type { ErrorMask } from '../error-mask.ts';
import { WEBSOCKET_PATH } from '../http.ts';
import type { Limiter } from '../rate-limit.ts';
import type { Admit } from './admission.ts';
import { MOST_UNSENT } from './backpressure.ts';
import { createOperations, MAX_ID_LENGTH, type Operations } from './open-operations.ts';
import type { Origins } from './origins.ts';
import { watchStall } from './stall.ts';
import type { Subscribe } from './subscriptions.ts';

const CONNECTIONS = {
  maxPayload: 1024 * 1024,
  /** Milliseconds to wait for a client's close frame before its connection is terminated. */
  closeTimeout: 1_000,
};
/** Active operations on one connection. */
const MAX_OPERATIONS = 200;
/** Open WebSockets of one key, or of one session's tokens. */
const MAX_SOCKETS = 100;
/** Time for a new connection to send `connection_init`. */
const INIT_LIMIT_MS = 3_000;

type Options = {
  authenticate: Authenticate;
  limiter: Limiter;
  createContext(origin: Origin): Context;
  maskError: ErrorMask;
  subscribe: Subscribe;
  admit: Admit;
  keys: Pick<Keys, 'watch'>;
  origins: Origins;
  connections: Connections;
  /** Milliseconds that a client may read none of the data sent to it. */
  stallMs?: number;
};

/**
 * Serves GraphQL over WebSocket (`graphql-transport-ws`) at `/graphql/ws`. The key is in `connection_init`, as
 * `{"Authorization": "Bearer …"}`, or in the request's header. A connection without a key is closed with 4401, and one
 * with an invalid key with 4403.
 */
export async function serveWebSocket(
  app: FastifyInstance,
  {
    authenticate,
    limiter,
    createContext,
    maskError,
    subscribe,
    admit,
    keys,
    origins,
    connections,
    stallMs = CONNECTION_LIMITS.stallMs,
  }: Options,
) {
  /** Authenticates each operation again, because the key may be revoked. A failed lookup rejects that operation only. */
  const authenticateConnection = (parameters: unknown, { headers, ip }: FastifyRequest) => {
    const { Authorization } = (parameters ?? {}) as Record<string, unknown>;
    return authenticate(Authorization ?? headers.authorization, ip).catch(toGatewayError);
  };

  const acquireSocket = createConcurrencyLimit(
    (max) => `There are already ${max} open WebSockets. Close one of them.`,
  );

  await app.register(websocket, { options: CONNECTIONS });
  app.route({
    method: 'GET',
    url: WEBSOCKET_PATH,
    // CORS does not cover WebSockets, so the server must check the origin (RFC 6455, section 10.2).
    preValidation: async (request) => {
      if (!request.ws || origins.mayConnect(request)) return;
      const message =
        'Pages of this origin may not connect. PARLEY_ALLOWED_ORIGINS does not contain it.';
      throw new GatewayError('insufficient_scope', message);
    },
    handler: (_request, reply) => reply.callNotFound(),
    wsHandler: guarded(
      makeHandler({
        // Otherwise the library would send internal errors to clients unmasked.
        isProd: true,
        connectionInitWaitTimeout: INIT_LIMIT_MS,
        execute,
        subscribe,
        onConnect: async ({ connectionParams, extra }) => {
          const { socket, request } = extra;
          const authentication = await authenticateConnection(connectionParams, request);
          // A closed socket emits no second `close`, so its key watcher would never be removed.
          if (socket.readyState >= socket.CLOSING) return false;
          if (!(authentication instanceof GatewayError)) {
            try {
              const { key, session } = authentication;
              const release = acquireSocket(JSON.stringify([key.id, session]), MAX_SOCKETS);
              socket.once('close', release);
            } catch {
              socket.close(4429, 'Too many connections');
              return false;
            }
            connections.trust(request.raw.socket);
            const unwatch = keys.watch(authentication, () => socket.close(4403, 'Forbidden'));
            socket.once('close', unwatch);
            acknowledged.add(socket);
            return true;
          }
          await limiter.take(authentication, request.ip, 1);
          refuse(socket, maskError(authentication));
          return false;
        },
        onSubscribe: async ({ connectionParams, extra, subscriptions }, id, payload) => {
          if (Object.keys(subscriptions).length > MAX_OPERATIONS) {
            extra.socket.close(4429, 'Too many operations');
            return [new GraphQLError('Too many operations.')];
          }
          const signal = operationsOf(extra.socket).begin(id);
          const { request } = extra;
          const authentication = await authenticateConnection(connectionParams, request);
          const contextValue = createContext({
            authentication,
            signal,
            setHeader: () => {},
            traceparent: request.headers.traceparent,
            take: (cost) => limiter.take(authentication, request.ip, cost),
          });
          const { operation, errors } = await admit(payload, contextValue);
          return operation ?? errors;
        },
        onComplete: ({ extra }, id) => operationsOf(extra.socket).end(id),
        onNext: (_connection, _id, _payload, _arguments, result) => ({
          ...result,
          ...(result.errors && { errors: result.errors.map(maskError) }),
        }),
        // A rejected operation gets no `onComplete`.
        onError: ({ extra }, id, _payload, errors) => {
          operationsOf(extra.socket).end(id);
          return errors.map(maskError);
        },
      }),
      stallMs,
    ),
  });
}

/** The close codes for authentication errors. */
const REFUSALS = new Map([
  ['MISSING_API_KEY', [4401, 'Unauthorized'] as const],
  ['INVALID_API_KEY', [4403, 'Forbidden'] as const],
]);

function refuse(socket: WebSocket, { extensions }: GraphQLError): void {
  const [code, reason] = REFUSALS.get(String(extensions.code)) ?? [1011, 'Internal error'];
  socket.close(code, reason);
}

/** The authenticated connections. */
const acknowledged = new WeakSet<WebSocket>();

/** The active operations of each connection. */
const connections = new WeakMap<WebSocket, Operations>();

function operationsOf(socket: WebSocket): Operations {
  const known = connections.get(socket);
  if (known) return known;
  const operations = createOperations();
  if (socket.readyState >= socket.CLOSING) operations.cancelAll();
  socket.once('close', operations.cancelAll);
  connections.set(socket, operations);
  return operations;
}

/**
 * Guards a socket before the library sees it. It bounds incoming messages, terminates clients that do not read, and
 * sends socket errors to the log, because the library prints them to the console.
 */
function guarded(handler: WebsocketHandler, stallMs: number): WebsocketHandler {
  return function (socket, request) {
    const cutOff = () => {
      if (socket.bufferedAmount <= MOST_UNSENT) return false;
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
        on(event, event === 'message' ? reading(socket, listener) : listener),
    });
    handler.call(this, socket, request);
    Object.assign(socket, { on });
    socket.on('ping', cutOff);
    socket.removeAllListeners('error');
    socket.on('error', ({ message }) => request.log.warn(`WebSocket failed: ${message}`));
  };
}

/** Characters of a message before authentication, and of a message other than `subscribe`. */
const MAX_SMALL_MESSAGE = 16 * 1024;

/** Validates each message, then passes it to the library as text. An invalid one closes the connection with 4400. */
function reading(socket: WebSocket, listener: (data: unknown) => void) {
  return (data: unknown) => {
    if (socket.readyState !== socket.OPEN) return;
    try {
      const text = String(data);
      const isSmall = text.length <= MAX_SMALL_MESSAGE;
      if (!isSmall && !acknowledged.has(socket)) throw new Error('The message is too long.');
      const message: unknown = JSON.parse(text);
      if (!isSmall && !isSubscribe(message)) throw new Error('The message is too long.');
      const { data: complete } = completeMessage.safeParse(message);
      // The library only ends operations that have started; cancel one that is still being admitted.
      if (complete) connections.get(socket)?.cancel(complete.id);
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
