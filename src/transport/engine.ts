import type { FastifyInstance } from 'fastify';
import { type DocumentNode, type ExecutionResult, type GraphQLSchema, subscribe } from 'graphql';
import { mercurius } from 'mercurius';
import { toGatewayError } from '../errors.ts';
import type { Operation } from '../operations/operation.ts';
import type { Context } from '../schema/context.ts';
import { readDocument } from '../schema/document.ts';

/** Runs Parley's own documents in this process. It trusts them, and faces no client. */
export type Engine = {
  /** Reads a document ahead of its first run. @throws an error where it does not fit the schema. */
  prepare(operation: Operation<never, unknown>): void;
  /** Runs a query or mutation, compiled at its second run. @throws GatewayError for the first error. */
  execute<Variables extends Record<string, unknown>, Data>(
    operation: Operation<Variables, Data>,
    variables: Variables,
    context: Context,
  ): Promise<Data>;
  /** Runs a subscription. @throws GatewayError where it does not begin. */
  subscribe<Variables extends Record<string, unknown>, Data>(
    operation: Operation<Variables, Data>,
    variables: Variables,
    context: Context,
  ): Promise<AsyncIterable<Data>>;
};

export async function createEngine(app: FastifyInstance, schema: GraphQLSchema): Promise<Engine> {
  await app.register(mercurius, {
    schema,
    jit: 1,
    routes: false,
    graphiql: false,
    errorFormatter: (execution) => ({ statusCode: 200, response: { ...execution } }),
  });
  const documents = new Map<string, DocumentNode>();

  /** Parses and validates each document once. */
  const read = (source: string): DocumentNode => {
    const known = documents.get(source);
    if (known) return known;
    const result = readDocument(schema, source);
    if (result.errors) throw result.errors[0];
    documents.set(source, result.document);
    return result.document;
  };

  return {
    prepare: ({ document }) => {
      read(document);
    },

    async execute({ document }, variables, context) {
      return dataOf(await app.graphql(document, context, variables));
    },

    async subscribe({ document }, variables, context) {
      const result = await subscribe({
        schema,
        document: read(document),
        contextValue: context,
        variableValues: variables,
      });
      if (!(Symbol.asyncIterator in result)) return dataOf(result);
      return (async function* () {
        for await (const event of result) yield dataOf(event);
      })();
    },
  };
}

/** The data of a result without errors. Its type is the operation's, which the tests hold against the schema. */
function dataOf({ data, errors }: ExecutionResult): never {
  if (data && !errors) return data as never;
  // The documents are ours, and so is a mistake that is not the domain's own refusal.
  const [error] = errors ?? [];
  throw toGatewayError(error?.originalError ?? new Error(error?.message));
}
