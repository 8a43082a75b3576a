import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ExecutionResult } from 'graphql';
import { createHandler } from 'graphql-sse/lib/use/fastify';
import { LRUCache } from 'lru-cache';
import { GatewayError } from '../errors.ts';
import { readDocument } from '../schema/document.ts';
import type { Authenticate } from './authenticate.ts';
import { type GraphQLOptions, sendGraphQLError } from './graphql.ts';

const MAX_RESERVED = 10_000;
const TOKEN_HEADER = 'x-graphql-event-stream-token';

/** The tokens that this server makes; the library looks up any other text unguarded. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type Options = GraphQLOptions & { authenticate: Authenticate };

/**
 * GraphQL over Server-Sent Events at `/graphql/stream`, in both modes of its protocol: a connection for each
 * operation, or one reserved connection for many (a key is needed to reserve one).
 */
export async function serveEventStream(
  app: FastifyInstance,
  { schema, contextOf, authenticate, maskError }: Options,
) {
  /** What ends the operations of a reserved connection: its client has left, not one operation's request. */
  const reserved = new LRUCache<string, AbortController>({ max: MAX_RESERVED });
  const handler = createHandler({
    onSubscribe: async ({ raw, context: { reply } }, { query, variables, operationName }) => {
      const { document, errors } = readDocument(schema, query);
      if (errors) return streamOf({ errors });
      const contextValue = await contextOf(raw, reply, reserved.get(tokenOf(raw))?.signal);
      return { schema, document, contextValue, variableValues: variables, operationName };
    },
    validate: () => [],
    // The library's own reading of the token takes a missing header for the text "undefined".
    authenticate: async ({ raw }) => {
      if (raw.method !== 'PUT') return tokenOf(raw);
      const authentication = await authenticate(raw.headers.authorization);
      if (authentication instanceof GatewayError) throw authentication;
      const token = randomUUID();
      reserved.set(token, new AbortController());
      return token;
    },
    onNext: (_context, _request, result) => ({
      ...result,
      ...(result.errors && { errors: result.errors.map(maskError) }),
    }),
  });
  app.setErrorHandler((error, _request, reply) => sendGraphQLError(error, reply, maskError));
  app.route({
    url: '/graphql/stream',
    method: ['GET', 'POST', 'PUT', 'DELETE'],
    handler: async (request, reply) => {
      const connection = request.method === 'GET' ? reserved.get(tokenOf(request)) : undefined;
      if (connection) reply.raw.once('close', () => connection.abort());
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

/** An answer that is there at once; the library sends it along the stream like any other. */
async function* streamOf(result: ExecutionResult) {
  yield result;
}
