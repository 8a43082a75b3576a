import type { GraphQLError } from 'graphql';
import { toGatewayError, toGraphQLError } from '../errors.ts';
import type { Log } from '../log.ts';

/** Turns whatever was thrown into the error that a GraphQL client sees. */
export type ErrorMask = (error: unknown) => GraphQLError;

/** The one mask of all GraphQL transports: what it hides, it logs. */
export function createErrorMask(log: Log): ErrorMask {
  return (error) => {
    const { code, message, cause } = toGatewayError(error);
    if (code === 'internal_error') log.error({ err: cause }, message);
    return toGraphQLError(error);
  };
}
