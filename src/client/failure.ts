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

/** All that an error of the server may say. */
export type Failure = Omit<ErrorFacts, 'cause' | 'diagnostics' | 'deployment'>;

/** The error of a failed request. A failed run has one of its own codes, or `internal_error` with its id. */
export function failure(given: Failure): ParleyError {
  const { message, requestId, details = [], retryAfter = 0, runId } = given;
  const code = given.code.toLowerCase();
  const { status = statusOf(code) } = given;
  const facts = { message, code, status, requestId };
  if (isRunFailure(code) || (runId && code === 'internal_error'))
    return new RunError({ ...facts, runId });
  switch (status) {
    case 400:
      return new InvalidRequestError({ ...facts, details });
    case 401:
      return new AuthenticationError(facts);
    case 403:
      return new PermissionError(facts);
    case 404:
      return new NotFoundError(facts);
    case 429:
      return new RateLimitError({ ...facts, retryAfter });
    default:
      return new ParleyError(facts);
  }
}

export function isRunFailure(code: string): boolean {
  return /^(model_|interrupted|cancelled)/.test(code);
}

/** The status of a code. Errors in streams and in GraphQL have only a code. */
function statusOf(code: string): number {
  if (/api_key$/.test(code)) return 401;
  if (/(denied|scope)$/.test(code)) return 403;
  if (/not_found$/.test(code)) return 404;
  if (/^rate/.test(code)) return 429;
  return code === 'internal_error' || isRunFailure(code) ? 500 : 400;
}

/** A header of a response. A proxy may send it twice, which `fetch` joins with a comma. */
export function header({ headers }: Response, name: string): string | undefined {
  return headers.get(name)?.replace(/,.*/, '');
}
