import type { GraphQLError } from 'graphql';
import type { GatewayError } from '../errors/errors.ts';
import type { Log } from '../observability/log.ts';
import { fromGraphQLError, toGraphQLError } from '../schema/graphql-error.ts';

/** Converts any thrown value to the error that a GraphQL client sees. */
export type ErrorMask = (error: unknown) => GraphQLError;

/** Creates the mask that all GraphQL transports use. It logs every error that it masks. */
export function createErrorMask(log: Log): ErrorMask {
  return (error) => {
    logInternal(log, fromGraphQLError(error));
    return toGraphQLError(error);
  };
}

/** Logs the cause of an internal error, except an abort: a client that disconnects is not a fault. */
export function logInternal(log: Log, { code, message, cause }: GatewayError): void {
  const isAbort = cause instanceof Error && cause.name === 'AbortError';
  if (code === 'internal_error' && cause && !isAbort) log.error({ err: cause }, message);
}
