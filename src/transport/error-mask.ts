import type { GraphQLError } from 'graphql';
import { type GatewayError, toGatewayError, toGraphQLError } from '../errors.ts';
import type { Log } from '../log.ts';

/** Turns whatever was thrown into the error that a GraphQL client sees. */
export type ErrorMask = (error: unknown) => GraphQLError;

/** The one mask of all GraphQL transports: what it hides, it logs. */
export function createErrorMask(log: Log): ErrorMask {
  return (error) => {
    logInternal(log, toGatewayError(error));
    return toGraphQLError(error);
  };
}

/** Logs what a client is not told of; not that a client has gone, which is no fault. */
export function logInternal(log: Log, { code, message, cause }: GatewayError): void {
  const isAbort = cause instanceof Error && cause.name === 'AbortError';
  if (code === 'internal_error' && cause && !isAbort) log.error({ err: cause }, message);
}
