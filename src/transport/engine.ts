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
import { yieldTurn } from '../async/event-loop-turn.ts';
import { readDocument } from '../schema/admission/document.ts';
import type { Context } from '../schema/context.ts';
import { fromGraphQLError } from '../schema/graphql-error.ts';
import { limitAnswer } from './answer-size.ts';

/** A stored GraphQL document with one named operation, and the types of its variables and data. */
export type Operation<Variables, Data> = {
  document: string;
  /** Never set: exists only for type inference. */
  types?: (variables: Variables) => Data;
};

/** Executes Parley's own GraphQL documents. They are trusted, so no admission rules apply. */
export type Engine = {
  /** Validates a document before its first execution. @throws an error if it does not match the schema. */
  prepare(operation: Operation<never, unknown>): void;
  /** Executes a query or mutation, compiled from its second execution on. @throws GatewayError for the first error. */
  execute<Variables extends Record<string, unknown>, Data>(
    operation: Operation<Variables, Data>,
    variables: Variables,
    context: Context,
  ): Promise<Data>;
  /** Starts a subscription. @throws GatewayError if it fails to start. */
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
  const prepared = preparedOf.get(schema) ?? new Map<string, Subscription | undefined>();
  preparedOf.set(schema, prepared);

  return {
    prepare({ document }) {
      if (!prepared.has(document)) prepared.set(document, read(schema, document));
    },

    async execute({ document }, variables, context) {
      return dataOf(limitAnswer(await app.graphql(document, context, variables)));
    },

    async subscribe({ document: source }, variables, context) {
      const subscription = prepared.get(source);
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
        for await (const event of events) {
          const turn = yieldTurn();
          if (turn) await turn;
          yield dataOf(limitAnswer(await toResult(event, context, variables)));
        }
      })();
    },
  };
}

/** The prepared documents of a schema by their text, for all apps of a process: to validate them is half of an app's start. */
const preparedOf = new WeakMap<GraphQLSchema, Map<string, Subscription | undefined>>();

/** Parses and validates a document. A subscription is also compiled, to map its events to results. */
function read(schema: GraphQLSchema, source: string): Subscription | undefined {
  const { document, errors } = readDocument(schema, source);
  if (errors) throw errors[0];
  const isSubscription = document.definitions.some(
    (definition) =>
      'operation' in definition && definition.operation === OperationTypeNode.SUBSCRIPTION,
  );
  if (!isSubscription) return undefined;
  const compiled = compileQuery(schema, document);
  if (!isCompiledQuery(compiled)) throw compiled.errors?.[0];
  return { document, toResult: compiled.query };
}

/** A prepared subscription. `toResult` maps an event to a result without interpreting the document again. */
type Subscription = { document: DocumentNode; toResult: CompiledQuery['query'] };

/** The data of a result without errors. Its type is the operation's, which is generated from the schema. */
function dataOf({ data, errors }: ExecutionResult): never {
  if (data && !errors) return data as never;
  // The documents are our own, so any error that the domain did not throw is a defect.
  const [error] = errors ?? [];
  throw fromGraphQLError(error?.originalError ?? new Error(error?.message));
}
