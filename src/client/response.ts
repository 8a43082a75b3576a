import { ConnectionError, type ParleyError } from './errors.ts';
import { type Failure, failure, header } from './failure.ts';
import type { RateLimits } from './options.ts';
import { fromWire } from './wire.ts';

/** @throws ConnectionError if the body is incomplete, or is no JSON because a proxy answered. */
export async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    throw new ConnectionError('The response is not complete JSON.', error);
  }
}

/** Reads the error of a response that is not a success. Proxies answer without a body of Parley. */
export async function failureOf(response: Response): Promise<ParleyError> {
  const { status } = response;
  const body = fromWire(await response.json().catch(() => null)) as FailureBody;
  const [fault] = body?.errors ?? [];
  return failure({
    status,
    code: status === 500 ? 'internal_error' : `http_${status}`,
    message: `The server answered ${status}.`,
    requestId: header(response, 'x-request-id'),
    runId: header(response, 'x-run-id'),
    retryAfter: Number(header(response, 'retry-after')) || 0,
    ...(fault ? faultOf(fault) : body?.error),
  });
}

/** The body of a failed request in camelCase: of REST, or of GraphQL. */
type FailureBody = { error?: Partial<Failure>; errors?: GraphQLFault[] } | null;

export type GraphQLFault = { message: string; extensions?: Partial<Failure> };

/** The facts of a GraphQL error, whose codes are the codes of REST in capitals. */
export function faultOf({ message, extensions }: GraphQLFault): Failure {
  return { code: 'internal_error', ...extensions, message };
}

export function limitsOf(response: Response): RateLimits | undefined {
  const [limit = 0, remaining = 0, reset = 0] = ['limit', 'remaining', 'reset'].map((name) =>
    Number(header(response, `x-ratelimit-${name}`)),
  );
  return reset > 0 ? { limit, remaining, reset } : undefined;
}
