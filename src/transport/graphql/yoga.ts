import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { ERRORS, readErrorCode } from '../../errors/errors.ts';
import type { Context } from '../../schema/context.ts';
import { fromGraphQLError } from '../../schema/graphql-error.ts';
import type { ContextOf } from '../context-of.ts';
import type { ErrorMask } from '../error-mask.ts';
import { fromHttp, setRetryAfter } from '../http.ts';
import type { Limiter } from '../rate-limit.ts';
import type { Admit, Operation } from './admission.ts';
import type { Documents } from './documents.ts';
import { executeWithinLimit } from './execute.ts';
import { createGraphiQLPage, isPageRequest } from './graphiql/page.ts';
import type { Origins } from './origins.ts';
import { decorateRequests, readRequest } from './request.ts';
import type { Subscribe } from './subscriptions.ts';

/** The dependencies of the GraphQL transports over HTTP. */
export type GraphQLOptions = {
  schema: GraphQLSchema;
  contextOf: ContextOf;
  maskError: ErrorMask;
  origins: Origins;
  subscribe: Subscribe;
  documents: Pick<Documents, 'textOf'>;
  admit: Admit;
};

declare module 'fastify' {
  interface FastifyRequest {
    /** The operation of a request for `/graphql`, once it is admitted. */
    operation: Operation | null;
  }
}

/** The server context that yoga gets with each request. */
type Server = { req: FastifyRequest; reply: FastifyReply };

/** Serves GraphQL over HTTP, and GraphiQL for browsers, at the prefix `/graphql`. */
export async function serveGraphQL(
  app: FastifyInstance,
  {
    schema,
    contextOf,
    maskError,
    origins,
    subscribe,
    documents,
    admit,
    limiter,
  }: GraphQLOptions & { limiter: Limiter },
) {
  const sendPage = createGraphiQLPage(limiter);
  const yoga = createYoga<Server>({
    schema,
    context: ({ req }) => operationOf(req).contextValue,
    graphiql: false,
    landingPage: false,
    cors: false,
    batching: false,
    // yoga's cache would also keep documents and errors of unauthenticated clients. `documents` has its own cache.
    parserAndValidationCache: false,
    maxRequestBodySize: false,
    logging: false,
    maskedErrors: { maskError },
    plugins: [admitAlike({ contextOf, admit, maskError }), runAlike(subscribe)],
  });
  decorateRequests(app);
  app.decorateRequest('operation', null);
  await origins.openTo(app);
  app.setErrorHandler(refuseRequests({ contextOf, maskError }));
  app.route({
    url: '',
    method: ['GET', 'POST'],
    exposeHeadRoute: false,
    onRequest: async (request, reply) => {
      if (isPageRequest(request)) return sendPage(request, reply);
    },
    preHandler: async (request) => {
      documents.textOf(readRequest(request));
    },
    handler: (req, reply) => yoga.handleNodeRequestAndResponse(req, reply, { req, reply }),
  });
}

/**
 * Creates a route's error handler. It sends a GraphQL error for a request that did not become an operation, and counts
 * the request as 1. If that exceeds the limit, it sends the limit's error.
 */
export function refuseRequests({
  contextOf,
  maskError,
}: Pick<GraphQLOptions, 'contextOf' | 'maskError'>) {
  return async (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const error = await contextOf(request, reply)
      .then((context) => context.charge(1))
      .then(() => fromHttp(thrown), fromGraphQLError);
    setRetryAfter(error, reply);
    return reply.code(ERRORS[error.code].status).send({ errors: [maskError(error)] });
  };
}

/**
 * Makes yoga execute only operations that `admit` allows, with the documents that `admit` parsed. A rejected operation
 * gets its error's status if the client accepts GraphQL's own media type, and 200 if it accepts plain JSON.
 * Source: GraphQL over HTTP, section 6.4.
 */
function admitAlike({
  contextOf,
  admit,
  maskError,
}: Pick<GraphQLOptions, 'contextOf' | 'admit' | 'maskError'>): Plugin<Context & Server, Server> {
  return {
    onRequestParse: ({ serverContext: { req }, setRequestParser }) =>
      setRequestParser(() => {
        const { query, operationName, variables } = readRequest(req);
        return {
          query: query ?? '',
          ...(operationName && { operationName }),
          ...(variables && { variables }),
        };
      }),

    async onParams({ context: { req, reply }, setResult }) {
      const { operation, errors } = await admit(readRequest(req), await contextOf(req, reply));
      if (operation) {
        req.operation = operation;
        return;
      }
      setResult({
        errors: errors.map((error) => {
          const masked = maskError(error);
          const status = ERRORS[readErrorCode(String(masked.extensions.code))].status;
          Object.assign(masked.extensions, { http: { status, spec: true } });
          return masked;
        }),
      });
    },

    onParse: ({ context: { req }, setParsedDocument }) =>
      setParsedDocument(operationOf(req).document),
    onValidate: ({ setResult }) => setResult([]),
  };
}

function operationOf({ operation }: FastifyRequest): Operation {
  if (!operation) throw new Error('The operation was not admitted.');
  return operation;
}

/** Makes yoga execute operations and start subscriptions with the functions of the other transports. */
function runAlike(subscribe: Subscribe): Plugin<Context> {
  return {
    onExecute: ({ setExecuteFn }) => setExecuteFn(executeWithinLimit),
    onSubscribe: ({ setSubscribeFn }) => setSubscribeFn(subscribe),
  };
}
