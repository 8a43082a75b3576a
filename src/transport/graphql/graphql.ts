import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ExecutionArgs, ExecutionResult, GraphQLSchema } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { ERROR_STATUS, invalidRequest, readErrorCode } from '../../errors.ts';
import { jsonObject, jsonText } from '../../json.ts';
import type { Context } from '../../schema/context.ts';
import { parseDocument } from '../../schema/document.ts';
import type { ContextOf } from '../context-of.ts';
import type { ErrorMask } from '../error-mask.ts';
import { fromHttp, setRetryAfter } from '../http.ts';
import { type Limiter, refusalOf } from '../limit.ts';
import type { Documents } from './documents.ts';
import { createGraphiQLPage, isPageRequest } from './graphiql/page.ts';
import type { Origins } from './origins.ts';
import type { Subscribe } from './subscriptions.ts';

const MAX_CACHED_CHARACTERS = 4 * 1024 * 1024;

/** What the GraphQL transports over HTTP are made of. */
export type GraphQLOptions = {
  schema: GraphQLSchema;
  contextOf: ContextOf;
  maskError: ErrorMask;
  origins: Origins;
  subscribe: Subscribe;
  documents: Documents;
};

/** GraphQL over HTTP, and GraphiQL for browsers, at `/graphql`. */
export async function serveGraphQL(
  app: FastifyInstance,
  {
    schema,
    contextOf,
    maskError,
    origins,
    subscribe,
    documents,
    limiter,
  }: GraphQLOptions & { limiter: Limiter },
) {
  const sendPage = createGraphiQLPage(limiter);
  const yoga = createYoga<{ req: FastifyRequest; reply: FastifyReply }>({
    schema,
    context: ({ req, reply }) => contextOf(req, reply),
    graphiql: false,
    landingPage: false,
    cors: false,
    batching: false,
    parserAndValidationCache: { documentCache: boundedCache(), errorCache: boundedCache() },
    logging: false,
    maskedErrors: { maskError },
    plugins: [readAlike(maskError), countOperations(maskError), subscribeAlike(subscribe)],
  });
  origins.openTo(app, '/graphql');
  app.setErrorHandler((error, _request, reply) => sendGraphQLError(error, reply, maskError));
  app.route({
    url: '/graphql',
    method: ['GET', 'POST'],
    onRequest: async (request, reply) => {
      if (isPageRequest(request)) return sendPage(request, reply);
    },
    preHandler: async (request) => {
      const parsed = parameters.safeParse(request.query);
      if (!parsed.success) throw invalidRequest(parsed.error);
      documents.resolve(request);
    },
    handler: (req, reply) => yoga.handleNodeRequestAndResponse(req, reply, { req, reply }),
  });
}

/** The parameters of a GET that are JSON. Source: GraphQL over HTTP, section 5.2. */
const jsonParameter = jsonText.pipe(jsonObject.nullable()).optional();
const parameters = z.looseObject({ variables: jsonParameter, extensions: jsonParameter });

/** A cache that strangers cannot fill with more than a little, however long their documents are. */
function boundedCache<Value extends object>() {
  return new LRUCache<string, Value>({
    max: 1_000,
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: (_value, source) => source.length + 1,
  });
}

/** Answers a request that never became an operation, in GraphQL's form. */
export function sendGraphQLError(thrown: unknown, reply: FastifyReply, maskError: ErrorMask) {
  const error = fromHttp(thrown);
  setRetryAfter(error, reply);
  return reply.code(ERROR_STATUS[error.code]).send({ errors: [maskError(error)] });
}

/**
 * Counts each operation before it runs. What is refused is answered with its status to those who accept GraphQL's own
 * media type, and with 200 to those who take plain JSON, as the specification has it (GraphQL over HTTP, 6.4).
 */
function countOperations(maskError: ErrorMask): Plugin<Context> {
  type Hook = {
    args: ExecutionArgs & { contextValue: Context };
    setResultAndStopExecution(result: ExecutionResult): void;
  };
  const count = async ({ args, setResultAndStopExecution }: Hook) => {
    const refusal = await refusalOf(args);
    if (!refusal) return;
    const error = maskError(refusal);
    const status = ERROR_STATUS[readErrorCode(String(error.extensions.code))];
    Object.assign(error.extensions, { http: { status, spec: true } });
    setResultAndStopExecution({ errors: [error] });
  };
  return { onExecute: count, onSubscribe: count };
}

/** Makes yoga read documents as the other transports do: as long ones at most, and with the same codes. */
function readAlike(maskError: ErrorMask): Plugin {
  return {
    onParse: ({ setParseFn }) => setParseFn(parseDocument),
    onValidate:
      () =>
      ({ result, setResult }) =>
        setResult(result.map(maskError)),
  };
}

/** Makes yoga's subscriptions those of the other transports. */
function subscribeAlike(subscribe: Subscribe): Plugin<Context> {
  return { onSubscribe: ({ setSubscribeFn }) => setSubscribeFn(subscribe) };
}
