import {
  AuthenticationError,
  type ErrorFacts,
  InvalidRequestError,
  NotFoundError,
  ParleyError,
  PermissionError,
  RateLimitError,
  RunError,
} from './errors.ts';

const RUN_FAILURE = /^(model_.*|interrupted|cancelled)$/;

/** The error of a failed request. A failed run has one of its own codes, or `internal_error` with its id. */
export function failure(facts: ErrorFacts): ParleyError {
  const { code, runId, status = statusOf(code) } = facts;
  const all = { ...facts, status };
  if (isRunFailure(code) || (runId !== undefined && code === 'internal_error')) {
    return new RunError(all);
  }
  switch (status) {
    case 400:
      return new InvalidRequestError(all);
    case 401:
      return new AuthenticationError(all);
    case 403:
      return new PermissionError(all);
    case 404:
      return new NotFoundError(all);
    case 429:
      return new RateLimitError(all);
    default:
      return new ParleyError(all);
  }
}

export function isRunFailure(code: string): boolean {
  return RUN_FAILURE.test(code);
}

/** The status of a code. Errors in streams and in GraphQL have only a code. */
function statusOf(code: string): number {
  if (code === 'internal_error' || isRunFailure(code)) return 500;
  if (code.endsWith('_api_key')) return 401;
  if (code === 'bot_access_denied' || code === 'insufficient_scope') return 403;
  if (code.endsWith('not_found')) return 404;
  return code === 'rate_limit_exceeded' ? 429 : 400;
}

/** The body of a failed request, of REST or of GraphQL. */
type FailureBody =
  | { error?: WireError; errors?: [{ message: string; extensions?: GraphQLExtensions }] }
  | null
  | undefined;
type WireError = Partial<ErrorFacts> & { request_id?: string; retry_after?: number };
type GraphQLExtensions = Partial<ErrorFacts>;

/** Reads the error of a response that is not a success. Proxies answer without a body of Parley. */
export async function failureOf(response: Response): Promise<ParleyError> {
  const { status } = response;
  const body: FailureBody = await response.json().catch(() => undefined);
  const runId = header(response, 'x-run-id');
  const requestId = header(response, 'x-request-id');
  const [fault] = body?.errors ?? [];
  if (fault) return graphQLFailure(fault, requestId);
  const { code, message, request_id, retry_after, details } = body?.error ?? {};
  return failure({
    status,
    code: code ?? (status === 500 ? 'internal_error' : `http_${status}`),
    message: message ?? `The server answered with status ${status}.`,
    details,
    runId,
    requestId: request_id ?? requestId,
    retryAfter: retry_after ?? (Number(header(response, 'retry-after')) || undefined),
  });
}

export function graphQLFailure(
  { message, extensions = {} }: { message: string; extensions?: GraphQLExtensions },
  requestId: string | undefined,
): ParleyError {
  const code = (extensions.code ?? 'INTERNAL_ERROR').toLowerCase();
  return failure({ ...extensions, code, message, requestId });
}

/** A header of a response. A proxy may send it twice, which `fetch` joins with a comma. */
export function header({ headers }: Response, name: string): string | undefined {
  return headers.get(name)?.split(',', 1)[0]?.trim();
}
