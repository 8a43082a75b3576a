import websocket, { type WebSocket, type WebsocketHandler } from '@fastify/websocket';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { execute, type GraphQLSchema, subscribe } from 'graphql';
import { makeHandler } from 'graphql-ws/use/@fastify/websocket';
import { GatewayError } from '../errors.ts';
import type { Context, Origin } from '../schema/context.ts';
import { readDocument } from '../schema/document.ts';
import type { Authenticate } from './authenticate.ts';
import type { ErrorMask } from './error-mask.ts';

const MAX_MESSAGE_BYTES = 1024 * 1024;

type Options = {
  schema: GraphQLSchema;
  authenticate: Authenticate;
  createContext(origin: Origin): Context;
  maskError: ErrorMask;
};

/**
 * GraphQL over WebSocket (`graphql-transport-ws`) at `/graphql/ws`. The key comes in `connection_init`, as
 * `{"Authorization": "Bearer …"}`, or in the request's header. Without one the connection is closed with 4401,
 * with one that is not valid with 4403.
 */
export async function serveWebSocket(
  app: FastifyInstance,
  { schema, authenticate, createContext, maskError }: Options,
) {
  /** The key is looked at again for each operation: a revoked one begins nothing more. */
  const authenticateConnection = (parameters: unknown, { headers }: FastifyRequest) => {
    const { Authorization } = (parameters ?? {}) as Record<string, unknown>;
    return authenticate(Authorization ?? headers.authorization);
  };

  await app.register(websocket, { options: { maxPayload: MAX_MESSAGE_BYTES } });
  app.route({
    method: 'GET',
    url: '/graphql/ws',
    handler: (_request, reply) => reply.callNotFound(),
    wsHandler: quietly(
      makeHandler({
        execute,
        subscribe,
        onConnect: async ({ connectionParams, extra }) => {
          const { socket, request } = extra;
          const authentication = await authenticateConnection(connectionParams, request);
          if (!(authentication instanceof GatewayError)) return true;
          if (authentication.code === 'missing_api_key') socket.close(4401, 'Unauthorized');
          else socket.close(4403, 'Forbidden');
          return false;
        },
        onSubscribe: async (
          { connectionParams, extra },
          _id,
          { query, variables, operationName },
        ) => {
          const { document, errors } = readDocument(schema, query);
          if (errors) return errors;
          const signal = closed(extra.socket);
          const contextValue = createContext({
            authentication: await authenticateConnection(connectionParams, extra.request),
            signal,
            setHeader: () => {},
          });
          return { schema, document, contextValue, variableValues: variables, operationName };
        },
        onNext: (_context, _id, _payload, _arguments, result) => ({
          ...result,
          ...(result.errors && { errors: result.errors.map(maskError) }),
        }),
        onError: (_context, _id, _payload, errors) => errors.map(maskError),
      }),
    ),
  });
}

/** A signal for each connection, aborted when it closes. */
const signals = new WeakMap<WebSocket, AbortSignal>();

function closed(socket: WebSocket): AbortSignal {
  const known = signals.get(socket);
  if (known) return known;
  const controller = new AbortController();
  if (socket.readyState >= socket.CLOSING) controller.abort();
  socket.once('close', () => controller.abort());
  signals.set(socket, controller.signal);
  return controller.signal;
}

/** The library prints a broken socket's error to the console; ours belongs in the log. */
function quietly(handler: WebsocketHandler): WebsocketHandler {
  return function (socket, request) {
    handler.call(this, socket, request);
    socket.removeAllListeners('error');
    socket.on('error', ({ message }) => request.log.warn(`The WebSocket broke: ${message}`));
  };
}
