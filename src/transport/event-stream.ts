import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ExecutionResult } from 'graphql';
import { createHandler } from 'graphql-sse/lib/use/fastify';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Caller } from '../accounts/caller.ts';
import type { Keys } from '../accounts/keys.ts';
import { GatewayError, invalidRequest } from '../errors.ts';
import type { Context } from '../schema/context.ts';
import type { Authenticate } from './authenticate.ts';
import { type GraphQLOptions, sendGraphQLError } from './graphql.ts';
import { type Limiter, refusalOf } from './limit.ts';
import { createOperations, type Operations } from './operations.ts';
import { createUnsent } from './unsent.ts';

const MAX_RESERVED = 10_000;
const TOKEN_HEADER = 'x-graphql-event-stream-token';

/** The tokens that this server makes; the library looks up any other text unguarded. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A connection for many operations, of which its client opens the stream when it likes. */
type Reserved = {
  caller: Caller;
  operations: Operations;
  opened: PromiseWithResolvers<ServerResponse>;
};

type Options = GraphQLOptions & {
  authenticate: Authenticate;
  limiter: Limiter;
  keys: Pick<Keys, 'watch'>;
};

/**
 * GraphQL over Server-Sent Events at `/graphql/stream`, in both modes of its protocol: a connection for each
 * operation, or one reserved connection for many (a key is needed to reserve one).
 */
export async function serveEventStream(
  app: FastifyInstance,
  {
    schema,
    contextOf,
    authenticate,
    limiter,
    keys,
    maskError,
    origins,
    subscribe,
    documents,
  }: Options,
) {
  /** What ends the operations of a reserved connection: its client has left, not one operation's request. */
  const reserved = new LRUCache<string, Reserved>({ max: MAX_RESERVED });
  /** The streams of those connections. */
  const streams = new Map<string, ServerResponse>();
  const unsent = createUnsent();
  /** Where what comes of an operation finds room. */
  const rooms = new WeakMap<object, () => Promise<void>>();
  const leave = (token: string) => {
    streams.delete(token);
    reserved.get(token)?.operations.cancelAll();
    reserved.delete(token);
  };
  /** Reads a reserved connection, which its key's end closes: after what its operations are told of that. */
  const read = (token: string, { caller, opened }: Reserved, stream: ServerResponse) => {
    streams.set(token, stream);
    opened.resolve(stream);
    const unwatch = keys.watch(caller, () => setImmediate(() => stream.destroy()));
    stream.once('close', () => {
      unwatch();
      leave(token);
    });
  };
  const handler = createHandler({
    onSubscribe: async ({ raw, context: { reply } }, { query, variables, operationName }) => {
      const { document, errors } = documents.read(query);
      if (errors) return streamOf({ errors });
      const connection = reserved.get(tokenOf(raw));
      const signal = connection?.operations.begin(operationIdOf(body.parse(raw.body).extensions));
      const contextValue = await contextOf(raw, reply, signal);
      rooms.set(contextValue, async () =>
        unsent.room(connection ? await connection.opened.promise : reply.raw),
      );
      const args = { schema, document, contextValue, variableValues: variables, operationName };
      const refusal = await refusalOf(args);
      return refusal ? streamOf({ errors: [refusal] }) : args;
    },
    validate: () => [],
    subscribe: async (args) => {
      const source = await subscribe(args);
      const room = rooms.get(args.contextValue as Context);
      return room && Symbol.asyncIterator in source ? paced(source, room) : source;
    },
    // The library's own reading of the token takes a missing header for the text "undefined".
    authenticate: async ({ raw }) => {
      if (raw.method !== 'PUT') return tokenOf(raw);
      const authentication = await authenticate(raw.headers.authorization);
      if (authentication instanceof GatewayError) {
        await limiter.take(authentication, raw.ip, 1);
        throw authentication;
      }
      const token = randomUUID();
      reserved.set(token, {
        caller: authentication,
        operations: createOperations(),
        opened: Promise.withResolvers(),
      });
      return token;
    },
    onComplete: (_context, { raw }) => {
      const id = operationIdOf(body.safeParse(raw.body).data?.extensions);
      reserved.get(tokenOf(raw))?.operations.end(id);
    },
    onNext: (_context, { raw, context: { reply } }, result) => {
      const masked = {
        ...result,
        ...(result.errors && { errors: result.errors.map(maskError) }),
      };
      unsent.add(streams.get(tokenOf(raw)) ?? reply.raw, masked);
      return masked;
    },
  });
  origins.openTo(app, '/graphql/stream');
  app.setErrorHandler((error, _request, reply) => sendGraphQLError(error, reply, maskError));
  app.route({
    url: '/graphql/stream',
    method: ['GET', 'POST', 'PUT', 'DELETE'],
    preHandler: async (request) => {
      // The library takes a missing header for the text "undefined", and a body that is false for one to come.
      request.headers.accept ??= '*/*';
      if (request.method === 'POST') {
        const parsed = body.safeParse(request.body);
        if (!parsed.success) throw invalidRequest(parsed.error);
      }
      documents.resolve(request);
    },
    handler: async (request, reply) => {
      const token = tokenOf(request);
      const connection = reserved.get(token);
      // Whoever asks for events by a token reads its connection; a second one is refused by the library.
      if (connection && request.headers.accept === 'text/event-stream' && !streams.has(token)) {
        read(token, connection, reply.raw);
      }
      if (request.method === 'DELETE') connection?.operations.cancel(operationIdOf(request.query));
      await handler(request, reply);
      return reply;
    },
  });
}

/** The token of a reserved connection; one of no connection where there is none. */
function tokenOf({ headers, query }: FastifyRequest): string {
  const { token } = query as { token?: unknown };
  const given = String(headers[TOKEN_HEADER] ?? token);
  return UUID.test(given) ? given : randomUUID();
}

/** What may be posted, as far as the library does not look at it itself. An operation's id names a property. */
const body = z.looseObject(
  {
    extensions: z
      .looseObject({
        operationId: z
          .string()
          .refine((id) => !(id in {}), 'is no id')
          .optional(),
      })
      .nullish(),
  },
  'the body must be a JSON object',
);

function operationIdOf(source: unknown): string {
  const { operationId } = (source ?? {}) as { operationId?: unknown };
  return String(operationId ?? '');
}

/** An answer that is there at once; the library sends it along the stream like any other. */
async function* streamOf(result: ExecutionResult) {
  yield result;
}

/** A subscription that goes on only where there is room for what comes. */
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
