import { PothosValidationError } from '@pothos/core';
import { GraphQLError } from 'graphql';
import { GatewayError } from '../errors/errors.ts';
import { toGatewayError } from '../errors/mask.ts';
import { withoutValues } from './graphql-message.ts';

/** Applies the masking rule to an error of a GraphQL library. An error about the request itself passes, without values. */
export function fromGraphQLError(error: unknown): GatewayError {
  const origin = originOf(error);
  return isRequestError(origin) || origin instanceof PothosValidationError
    ? new GatewayError('invalid_request', withoutValues(origin.message))
    : toGatewayError(origin);
}

/** Applies the masking rule to a GraphQL error. It keeps the error's locations, its path and the protocol's extensions. */
export function toGraphQLError(error: unknown): GraphQLError {
  const { code, message, details, diagnostics, runId, retryAfter } = fromGraphQLError(error);
  const origin = error instanceof GraphQLError ? error : undefined;
  return new GraphQLError(message, {
    nodes: origin?.nodes,
    source: origin?.source,
    positions: origin?.positions,
    path: origin?.path,
    extensions: {
      ...(isRequestError(error) ? error.extensions : {}),
      code: code.toUpperCase(),
      ...(details && { details }),
      ...(diagnostics && { diagnostics }),
      ...(runId && { runId }),
      ...(retryAfter && { retryAfter }),
    },
  });
}

/** The error in the errors of GraphQL, of which an error that several fields share has two. */
function originOf(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError
    ? originOf(error.originalError)
    : error;
}

/**
 * Whether GraphQL rejected the document or its variables. Such an error occurs before execution, so it has no path, and
 * its message is only about the request.
 */
function isRequestError(error: unknown): error is GraphQLError {
  return error instanceof GraphQLError && error.path === undefined;
}
