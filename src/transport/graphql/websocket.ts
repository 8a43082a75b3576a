import websocket, { type WebSocket } from '@fastify/websocket';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import { type ConnectionInitMessage, handleProtocols, makeServer } from 'graphql-ws';
import { createConcurrencyLimit } from '../../accounts/concurrency-limit.ts';
import type { Keys } from '../../accounts/keys.ts';
import { GatewayError } from '../../errors/errors.ts';
import { toGatewayError } from '../../errors/mask.ts';
import type { Context, Origin } from '../../schema/context.ts';
import type { AuthenticateRequest } from '../authenticate-request.ts';
import type { BodyMemory } from '../body-memory.ts';
import { CONNECTION_LIMITS, type Connections } from '../connections.ts';
import type { ErrorMask } from '../error-mask.ts';
import { WEBSOCKET_PATH } from '../http.ts';
import { bodyOwnerOf, type Limiter } from '../rate-limit.ts';
import type { OpenStreams } from '../stream-drain.ts';
import type { Admit } from './admission.ts';
import { executeWithinLimit } from './execute.ts';
import type { Origins } from './origins.ts';
import type { Subscribe } from './subscriptions.ts';
import { openConnection, type WebSocketConnection } from './websocket-connection.ts';
import { createWebSocketPace } from './websocket-pace.ts';

const CONNECTIONS = {
  maxPayload: 1024 * 1024,
  /** Frames of one message: each is kept on its own until the message is whole. */
  maxFragments: 1_024,
  /** Reads of the socket that one frame may take. */
  maxBufferedChunks: 4_096,
  /** Milliseconds to wait for a client's close frame before its connection is terminated. */
  closeTimeout: 1_000,
  handleProtocols: (protocols: Set<string>) => handleProtocols(protocols),
};
/** Active operations on one connection. */
const MAX_OPERATIONS = 200;
/** Open WebSockets of one key, or of one session's tokens. */
const MAX_SOCKETS = 100;
/** Frames in a second of all WebSockets of one account. A JSON ping takes 17 µs, a refused operation 80 µs. */
const MAX_FRAMES_OF_ACCOUNT = 4_000;

type Options = {
  authenticateRequest: AuthenticateRequest;
  limiter: Limiter;
  createContext(origin: Origin): Context;
  maskError: ErrorMask;
  subscribe: Subscribe;
  admit: Admit;
  keys: Pick<Keys, 'watch'>;
  origins: Origins;
  connections: Connections;
  streams: OpenStreams;
  /** Milliseconds for a new connection to send `connection_init`. */
  initMs?: number | undefined;
  /** Milliseconds that a client may read none of the data sent to it. */
  stallMs?: number | undefined;
  /** Milliseconds for a message to arrive. */
  requestMs?: number | undefined;
  bodyMemory: BodyMemory;
};

/**
 * Serves GraphQL over WebSocket (`graphql-transport-ws`) at `/graphql/ws`. The key is in `connection_init`, as
 * `{"Authorization": "Bearer …"}`, or in the request's header. A connection without a key is closed with 4401, and one
 * with an invalid key with 4403.
 */
export async function serveWebSocket(
  app: FastifyInstance,
  {
    authenticateRequest,
    limiter,
    createContext,
    maskError,
    subscribe,
    admit,
    keys,
    origins,
    connections,
    streams,
    initMs = CONNECTION_LIMITS.initMs,
    stallMs = CONNECTION_LIMITS.stallMs,
    requestMs = CONNECTION_LIMITS.requestMs,
    bodyMemory,
  }: Options,
) {
  /** Authenticates each operation again, because the key may be revoked. A failed lookup rejects that operation only. */
  const authenticateConnection = (parameters: unknown, request: FastifyRequest) => {
    const { Authorization } = (parameters ?? {}) as Record<string, unknown>;
    return authenticateRequest(request, Authorization).catch(toGatewayError);
  };

  const acquireSocket = createConcurrencyLimit(
    (max) => `There are already ${max} open WebSockets. Close one of them.`,
  );

  const server = makeServer<ConnectionInitMessage['payload'], WebSocketConnection>({
    connectionInitWaitTimeout: initMs,
    execute: executeWithinLimit,
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
        socket.once(
          'close',
          streams.add(() => closeForRestart(socket)),
        );
        extra.acknowledge(bodyOwnerOf(authentication, request.ip));
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
      const { request } = extra;
      const signal = extra.operations.begin(id);
      const authentication = await authenticateConnection(connectionParams, request);
      const contextValue = createContext({
        authentication,
        address: request.ip,
        signal,
        setHeader: () => {},
        traceparent: request.headers.traceparent,
        entrance: 'GRAPHQL',
        userAgent: request.headers['user-agent'],
        take: (cost, options) => limiter.takeOperation(authentication, request.ip, cost, options),
      });
      const { operation, errors } = await admit(payload, contextValue);
      return operation ?? errors;
    },
    onComplete: ({ extra }, id) => extra.operations.end(id),
    onNext: (_connection, _id, _payload, _arguments, result) => ({
      ...result,
      ...(result.errors && { errors: result.errors.map(maskError) }),
    }),
    // A rejected operation gets no `onComplete`.
    onError: ({ extra }, id, _payload, errors) => {
      extra.operations.end(id);
      return errors.map(maskError);
    },
  });
  const pace = createWebSocketPace(MAX_FRAMES_OF_ACCOUNT);
  const limits = { stallMs, memory: bodyMemory, messageMs: requestMs, pace };

  await app.register(websocket, {
    options: CONNECTIONS,
    preClose: closeSockets,
    // The socket closes itself after an error.
    errorHandler: ({ message }, _socket, request) =>
      request.log.debug(`WebSocket failed: ${message}`),
  });
  app.route({
    method: 'GET',
    url: WEBSOCKET_PATH,
    exposeHeadRoute: false,
    // CORS does not cover WebSockets, so the server must check the origin (RFC 6455, section 10.2).
    preValidation: async (request) => {
      if (request.ws) origins.assertMayConnect(request);
    },
    handler: (_request, reply) => reply.callNotFound(),
    wsHandler: (socket, request) => openConnection(server, socket, request, limits),
  });
}

/** Closes a WebSocket with a code that lets its client connect again. Source: the IANA registry of close codes. */
const closeForRestart = (socket: WebSocket) => socket.close(1012, 'Service Restart');

/** Closes all WebSockets, also before the server has acknowledged them. */
function closeSockets(this: FastifyInstance, done: () => void): void {
  for (const socket of this.websocketServer.clients) closeForRestart(socket);
  this.websocketServer.close();
  done();
}

/** The close codes for authentication errors. */
const REFUSALS = new Map([
  ['MISSING_API_KEY', [4401, 'Unauthorized'] as const],
  ['INVALID_API_KEY', [4403, 'Forbidden'] as const],
  ['BOT_ACCESS_DENIED', [4403, 'Forbidden'] as const],
]);

function refuse(socket: WebSocket, { extensions }: GraphQLError): void {
  const [code, reason] = REFUSALS.get(String(extensions.code)) ?? [1011, 'Internal error'];
  socket.close(code, reason);
}
