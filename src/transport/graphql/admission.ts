import { type ExecutionArgs, GraphQLError, type GraphQLSchema, getOperationAST } from 'graphql';
import { GatewayError } from '../../errors/errors.ts';
import { costOf } from '../../schema/admission/cost.ts';
import type { ReadDocument } from '../../schema/admission/document.ts';
import { isRead } from '../../schema/admission/reads.ts';
import { assertSessionMayAsk } from '../../schema/admission/session-rule.ts';
import { assertShortLists } from '../../schema/admission/variables.ts';
import { assertReadable } from '../../schema/admission/weight.ts';
import type { Context } from '../../schema/context.ts';
import { fromGraphQLError } from '../../schema/graphql-error.ts';
import type { Documents } from './documents.ts';
import type { GraphQLRequest } from './request.ts';

/** An admitted operation, or the errors that reject it. The transport must mask the errors. */
export type Admission =
  | { operation: Operation; errors?: undefined }
  | { operation?: undefined; errors: readonly GraphQLError[] };

/** An operation in the form of the GraphQL libraries. */
export type Operation = Pick<
  ExecutionArgs,
  'schema' | 'document' | 'operationName' | 'variableValues'
> & { contextValue: Context };

/**
 * Counts an operation and decides whether it may run, for every GraphQL transport. It is the last step before execution
 * and checks the document that will run. A request without a valid document counts 1. If the caller has no requests
 * left, an unknown document is rejected before it is parsed. In a session of the console, reads by Parley's own documents
 * count against the session, not against the account.
 */
export type Admit = (request: GraphQLRequest, context: Context) => Promise<Admission>;

export function createAdmission({
  schema,
  documents,
}: {
  schema: GraphQLSchema;
  documents: Documents;
}): Admit {
  const read = async (request: GraphQLRequest, context: Context): Promise<ReadDocument> => {
    const text = documents.textOf(request);
    const known = documents.find(text);
    if (known) return known;
    const { remaining } = await context.quota();
    // No requests are left, so this throws.
    if (remaining === 0) await context.charge(1);
    return documents.read(text, { keep: context.isAuthenticated() });
  };

  return async (request, contextValue) => {
    const { document, errors } = await read(request, contextValue).catch(refusedWith);
    try {
      if (errors) {
        await contextValue.charge(1);
        return { errors };
      }
      const { operationName, variables } = request;
      const isConsoleRead =
        contextValue.isConsole() &&
        documents.isOwn(documents.textOf(request)) &&
        isRead(document, operationName);
      await contextValue.charge(costOf(document, operationName), { isConsoleRead });
      if (!getOperationAST(document, operationName)) {
        throw new GatewayError('invalid_request', 'Could not determine what operation to execute.');
      }
      assertReadable(schema, document, operationName, variables);
      assertShortLists(schema, document, operationName, variables);
      if (contextValue.session()) assertSessionMayAsk(schema, document);
      const operation = {
        schema,
        document,
        contextValue,
        variableValues: variables,
        operationName,
      };
      return { operation };
    } catch (error) {
      return refusedWith(error);
    }
  };
}

function refusedWith(error: unknown): { document?: undefined; errors: GraphQLError[] } {
  const originalError = fromGraphQLError(error);
  return { errors: [new GraphQLError(originalError.message, { originalError })] };
}
