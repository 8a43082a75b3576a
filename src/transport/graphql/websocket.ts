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
  /** Milliseconds that a client has to answer that its connection is closed. Then it is cut: nobody waits for a silent one. */
  closeTimeout: 1_000,
};
/** How many operations of one connection may be under way. */
const MAX_OPERATIONS = 200;
/** WebSockets of one key, or of one session's tokens. */
const MAX_SOCKETS = 100;
/** How long a connection may take to say who it is. */
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
  /** Milliseconds that a client may take nothing of what waits for it. */
  stallMs?: number;
};

/**
 * GraphQL over WebSocket (`graphql-transport-ws`) at `/graphql/ws`. The key comes in `connection_init`, as
 * `{"Authorization": "Bearer …"}`, or in the request's header. Without one the connection is closed with 4401,
 * with one that is not valid with 4403.
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
  /**
   * The key is looked at again for each operation: a revoked one begins nothing more. That it cannot be looked at is a
   * refusal too, of that operation alone.
   */
  const authenticateConnection = (parameters: unknown, { headers, ip }: FastifyRequest) => {
    const { Authorization } = (parameters ?? {}) as Record<string, unknown>;
    return authenticate(Authorization ?? headers.authorization, ip).catch(toGatewayError);
  };

  const acquireSocket = createConcurrencyLimit(
    (max) => `${max} WebSockets are open already. Close one of them.`,
  );

  await app.register(websocket, { options: CONNECTIONS });
  app.route({
    method: 'GET',
    url: WEBSOCKET_PATH,
    // Browsers ask nobody before they connect to another host: CORS does not cover WebSockets (RFC 6455, 10.2).
    preValidation: async (request) => {
      if (!request.ws || origins.mayConnect(request)) return;
      const message =
        'Pages of this origin may not connect: PARLEY_ALLOWED_ORIGINS does not list it.';
      throw new GatewayError('insufficient_scope', message);
    },
    handler: (_request, reply) => reply.callNotFound(),
    wsHandler: guarded(
      makeHandler({
        // Else clients would read of our own faults as they are.
        isProd: true,
        connectionInitWaitTimeout: INIT_LIMIT_MS,
        execute,
        subscribe,
        onConnect: async ({ connectionParams, extra }) => {
          const { socket, request } = extra;
          const authentication = await authenticateConnection(connectionParams, request);
          // Whoever has gone meanwhile closes no more, and would be watched for as long as the key holds.
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
        // What is refused never comes to its completion.
        onError: ({ extra }, id, _payload, errors) => {
          operationsOf(extra.socket).end(id);
          return errors.map(maskError);
        },
      }),
      stallMs,
    ),
  });
}

/** How a connection is closed for the reason why nobody is let in. */
const REFUSALS = new Map([
  ['MISSING_API_KEY', [4401, 'Unauthorized'] as const],
  ['INVALID_API_KEY', [4403, 'Forbidden'] as const],
]);

function refuse(socket: WebSocket, { extensions }: GraphQLError): void {
  const [code, reason] = REFUSALS.get(String(extensions.code)) ?? [1011, 'Internal error'];
  socket.close(code, reason);
}

/** The connections that have said who they are. */
const acknowledged = new WeakSet<WebSocket>();

/** The operations of each connection. */
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
 * Stands between a socket and the library: messages are bounded before it reads them, a client that does not read is cut
 * off whatever is sent to it, and errors go to the log, where the library prints them to the console.
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
      // A message that cannot be sent is no error: that the socket has closed says enough.
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
    socket.on('error', ({ message }) => request.log.warn(`The WebSocket broke: ${message}`));
  };
}

/** Bytes of a message before the connection is acknowledged, and of one that is no operation. */
const MAX_SMALL_MESSAGE = 16 * 1024;

/** Hands each message on to the library as a text, and closes the connection with 4400 for one that is not valid. */
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
      // The library ends operations that run; those that still wait to begin are cancelled here.
      if (complete) connections.get(socket)?.cancel(complete.id);
      const read = readMessage(message);
      listener(read === message ? text : JSON.stringify(read));
    } catch {
      socket.close(4400, 'Invalid message received');
    }
  };
}

/** Source: the protocol of graphql-ws, "Complete". */
const completeMessage = z.object({ type: z.literal('complete'), id: z.string() });

function isSubscribe(message: unknown): message is JsonObject {
  return isJsonObject(message) && message.type === 'subscribe';
}

/** The messages of servers: the library takes them for a fault of ours. Source: the protocol of graphql-ws. */
const FROM_SERVERS: unknown[] = ['connection_ack', 'next', 'error'];

/**
 * Reads a message. The library lets none through that has no text for a query: with an id alone, an empty one stands in
 * for it.
 *
 * @throws Error for a message that is not valid.
 */
function readMessage(message: unknown): unknown {
  if (!isJsonObject(message)) return message;
  if (FROM_SERVERS.includes(message.type)) throw new Error('Only servers send this.');
  if (!isSubscribe(message)) return message;
  const { id, payload } = message;
  if (String(id).length > MAX_ID_LENGTH) throw new Error('The id of the operation is too long.');
  if (!isJsonObject(payload) || payload.query !== undefined || payload.documentId == null) {
    return message;
  }
  return { ...message, payload: { ...payload, query: '' } };
}
