import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ExecutionResult } from 'graphql';
import { createHandler, type Request, TOKEN_HEADER_KEY } from 'graphql-sse';
import { z } from 'zod';
import type { Keys } from '../../accounts/keys.ts';
import { GatewayError, invalidInput, problemsOf } from '../../errors/errors.ts';
import type { Context } from '../../schema/context.ts';
import type { AuthenticateRequest } from '../authenticate-request.ts';
import type { Connections } from '../connections.ts';
import { createEventReader, type EventReader } from '../event-writer.ts';
import type { OpenStreams } from '../stream-drain.ts';
import { sendResponse, sendStream } from './event-stream-response.ts';
import { executeWithinLimit } from './execute.ts';
import { MAX_ID_LENGTH } from './open-operations.ts';
import { addressOf, decorateRequests, readRequest } from './request.ts';
import { createReserved, type EventStream } from './single-connection.ts';
import { type GraphQLOptions, refuseRequests } from './yoga.ts';

/** The form of this server's tokens. The library would look up any other text as a property name. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type Options = GraphQLOptions & {
  authenticateRequest: AuthenticateRequest;
  keys: Pick<Keys, 'watch'>;
  connections: Connections;
  streams: OpenStreams;
};

/** The value that the library passes back with each request. */
type Exchange = { token: string; reply: FastifyReply; reader: EventReader };

/** The context of an operation. `room` waits until the queue of its reader has room. */
type PacedContext = Context & { room(): Promise<void> };

/**
 * Serves GraphQL over Server-Sent Events at the prefix `/graphql/stream`, in both modes of the protocol: one connection for each
 * operation, or one reserved connection for many. A reservation needs a key.
 */
export async function serveEventStream(
  app: FastifyInstance,
  {
    contextOf,
    authenticateRequest,
    keys,
    connections,
    streams,
    maskError,
    origins,
    subscribe,
    documents,
    admit,
  }: Options,
) {
  const reserved = createReserved({ keys });

  const handle = createHandler<FastifyRequest, Exchange, Context>({
    authenticate: ({ context: { token } }) => token,
    onSubscribe: async ({ raw, context: { token, reply, reader } }) => {
      const connection = reserved.find(token);
      const parameters = readRequest(raw);
      const signal = connection?.operations.begin(operationIdOf(parameters.extensions));
      const room = async () => (connection ? await connection.opened : reader)?.room();
      const contextValue: PacedContext = { ...(await contextOf(raw, reply, signal)), room };
      const { operation, errors } = await admit(parameters, contextValue);
      return operation ?? streamOf({ errors });
    },
    validate: () => [],
    execute: executeWithinLimit,
    subscribe: async (args) => {
      const source = await subscribe(args);
      // The library types the context of our transport as `unknown`.
      const { room } = args.contextValue as PacedContext;
      return Symbol.asyncIterator in source ? paced(source, room) : source;
    },
    onComplete: (_context, { raw, context: { token } }) => {
      const id = operationIdOf(readRequest(raw).extensions);
      reserved.find(token)?.operations.end(id);
    },
    onNext: (_context, { context: { token, reader } }, result) => {
      const masked = {
        ...result,
        ...(result.errors && { errors: result.errors.map(maskError) }),
      };
      const connection = reserved.find(token);
      (connection?.reader ?? reader).add(masked);
      return masked;
    },
  });

  const identify = async (request: FastifyRequest) => {
    const caller = await authenticateRequest(request);
    if (caller instanceof GatewayError) throw caller;
    return caller;
  };

  const reserve = async (request: FastifyRequest, reply: FastifyReply, reader: EventReader) => {
    const caller = await identify(request);
    const token = randomUUID();
    const translated = toLibrary(request, { token, reply, reader });
    const answer = await handle(translated);
    if (answer[1].status === 201) {
      // Open the library's stream at once, because only an open stream can be ended. It queues events until it is read.
      const [stream] = await handle({ ...translated, method: 'GET', headers: ACCEPT_EVENTS });
      reserved.add(token, caller, stream as EventStream);
    }
    return sendResponse(reply, answer, reader, streams);
  };

  app.addHook('onClose', async () => reserved.endAll());
  decorateRequests(app);
  await origins.openTo(app);
  app.setErrorHandler(refuseRequests({ contextOf, maskError }));
  app.route({
    url: '',
    method: ['GET', 'POST', 'PUT', 'DELETE'],
    exposeHeadRoute: false,
    onRequest: async (request) => {
      if (request.method === 'PUT') await identify(request);
    },
    preHandler: async (request) => {
      addressOf(request);
      if (request.method !== 'POST' && request.method !== 'GET') return;
      const parameters = readRequest(request);
      const { error } = extensions.safeParse(parameters.extensions);
      if (error) throw invalidInput(problemsOf(error));
      if (isOperation(request)) documents.textOf(parameters);
    },
    handler: async (request, reply) => {
      const { method, headers, query } = request;
      const reader = createEventReader(reply.raw);
      if (method === 'PUT') return reserve(request, reply, reader);
      const token = tokenOf(request);
      const connection = reserved.find(token);
      // The first event-stream request with a token reads its connection. The library rejects a second one.
      if (connection && !connection.reader && headers.accept === 'text/event-stream') {
        connections.trust(request.raw.socket);
        return sendStream(reply, connection.open(reader), reader, streams);
      }
      if (method === 'DELETE') connection?.operations.cancel(operationIdOf(query));
      const answer = await handle(toLibrary(request, { token, reply, reader }));
      return sendResponse(reply, answer, reader, streams);
    },
  });
}

/** Whether a request carries an operation. A GET request without a document opens a reserved connection. */
function isOperation(request: FastifyRequest): boolean {
  const { query, documentId } = readRequest(request);
  return request.method === 'POST' || typeof (query ?? documentId) === 'string';
}

/** Converts a request to the library's form. The library needs only an operation's id. */
function toLibrary<Context>(
  request: FastifyRequest,
  context: Context,
): Request<FastifyRequest, Context> {
  const { method, headers } = request;
  const hasParameters = (method === 'POST' || method === 'GET') && isOperation(request);
  const { extensions } = hasParameters ? readRequest(request) : {};
  const address = new URLSearchParams({ query: '', extensions: JSON.stringify(extensions ?? {}) });
  return {
    method,
    url: hasParameters ? `?${address}` : request.url,
    headers: { get: (name) => headers[name]?.toString() },
    body: { query: '', extensions },
    raw: request,
    context,
  };
}

const ACCEPT_EVENTS = new Headers({ accept: 'text/event-stream' });

/** The token of a request. Without a valid one, it is a random token that matches no connection. */
function tokenOf({ headers, query }: FastifyRequest): string {
  const { token } = query as { token?: unknown };
  const given = String(headers[TOKEN_HEADER_KEY] ?? token);
  return UUID.test(given) ? given : randomUUID();
}

/** The library uses an operation's id as a property name, so ids such as `constructor` are rejected. */
const extensions = z
  .looseObject({
    operationId: z
      .string()
      .max(MAX_ID_LENGTH, `must not be longer than ${MAX_ID_LENGTH} characters`)
      .refine((id) => !(id in {}), 'is reserved')
      .optional(),
  })
  .nullish();

function operationIdOf(source: unknown): string {
  const { operationId } = (source ?? {}) as { operationId?: unknown };
  return String(operationId ?? '');
}

/** Wraps an immediate result, which the library sends on the stream like any other. */
async function* streamOf(result: ExecutionResult) {
  yield result;
}

/** Wraps a subscription so that it reads the next event only if the reader's queue has room. */
function paced(
  source: AsyncGenerator<ExecutionResult, void, void>,
  room: () => Promise<void>,
): AsyncGenerator<ExecutionResult, void, void> {
  return {
    async next() {
      await room();
      return source.next();
    },
    return: () => source.return(),
    throw: (error) => source.throw(error),
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}
