import type { FastifyInstance } from 'fastify';
import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  OperationTypeNode,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { mercurius } from 'mercurius';
import { toGatewayError } from '../errors.ts';
import type { Operation } from '../operations/operation.ts';
import { readDocument } from '../schema/admission/document.ts';
import type { Context } from '../schema/context.ts';

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
  const subscriptions = new Map<string, Subscription>();

  /** Parses and validates a document; a subscription is compiled too, for what its events become. */
  const read = (source: string) => {
    const { document, errors } = readDocument(schema, source);
    if (errors) throw errors[0];
    const isSubscription = document.definitions.some(
      (definition) =>
        'operation' in definition && definition.operation === OperationTypeNode.SUBSCRIPTION,
    );
    if (!isSubscription) return;
    const compiled = compileQuery(schema, document);
    if (!isCompiledQuery(compiled)) throw compiled.errors?.[0];
    subscriptions.set(source, { document, toResult: compiled.query });
  };

  return {
    prepare: ({ document }) => read(document),

    async execute({ document }, variables, context) {
      return dataOf(await app.graphql(document, context, variables));
    },

    async subscribe({ document: source }, variables, context) {
      const subscription = subscriptions.get(source);
      if (!subscription) throw new Error('The subscription was not prepared.');
      const { document, toResult } = subscription;
      const events = await createSourceEventStream({
        schema,
        document,
        contextValue: context,
        variableValues: variables,
      });
      if (!(Symbol.asyncIterator in events)) return dataOf(events);
      return (async function* () {
        for await (const event of events) yield dataOf(await toResult(event, context, variables));
      })();
    },
  };
}

/** A subscription that was read: its events become results without going through its document again. */
type Subscription = { document: DocumentNode; toResult: CompiledQuery['query'] };

/** The data of a result without errors. Its type is the operation's, which the tests hold against the schema. */
function dataOf({ data, errors }: ExecutionResult): never {
  if (data && !errors) return data as never;
  // The documents are ours, and so is a mistake that is not the domain's own refusal.
  const [error] = errors ?? [];
  throw toGatewayError(error?.originalError ?? new Error(error?.message));
}
