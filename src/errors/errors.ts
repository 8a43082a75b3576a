import type { ZodError } from 'zod';

/**
 * The closed list of error codes, each with its HTTP status. REST sends a code as it is; GraphQL sends it in capitals as
 * `extensions.code`. Source: the API document, "Errors".
 */
export const ERROR_STATUS = {
  invalid_json: 400,
  invalid_request: 400,
  request_too_large: 400,
  bot_not_deployed: 400,
  idempotency_conflict: 400,
  deployment_not_deployable: 400,
  /** For a failed deploy with `strict` over REST, and for a chat with an invalid draft. */
  definition_invalid: 400,
  session_busy: 400,
  search_too_broad: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  bot_access_denied: 403,
  insufficient_scope: 403,
  bot_not_found: 404,
  deployment_not_found: 404,
  run_not_found: 404,
  not_found: 404,
  rate_limit_exceeded: 429,
  internal_error: 500,
  model_error: 500,
  model_timeout: 500,
  /** A content filter of the model server removed the reply. */
  content_filtered: 500,
  /** Only on runs: the process that executed the run died. */
  interrupted: 500,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** Reads a GraphQL error code. An unknown code is a defect, so it becomes `internal_error`. */
export function readErrorCode(text: string): ErrorCode {
  const code = text.toLowerCase();
  return code in ERROR_STATUS ? (code as ErrorCode) : 'internal_error';
}

/** One problem in the input. `path` is dotted, from the input's root. */
export type ErrorDetail = { path: string; message: string };

/** An error that is safe to show to the caller. Any other error is logged and masked as `internal_error`. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  /** For `invalid_request`: every problem, up to a limit. */
  readonly details: ErrorDetail[] | undefined;
  /** The failed run, if one had started. */
  readonly runId: string | undefined;
  /** For `definition_invalid`: the problems of the definition. */
  readonly diagnostics: readonly object[] | undefined;
  /** For `rate_limit_exceeded`, and `internal_error` in an outage of the database: whole seconds to wait, at least 1. */
  readonly retryAfter: number | undefined;
  /** For a failed run: what the model server answered. Only a caller with the scope RUNS may read it. */
  readonly detail: string | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      details?: ErrorDetail[];
      runId?: string;
      diagnostics?: readonly object[];
      retryAfter?: number;
      detail?: string | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.details = options.details;
    this.runId = options.runId;
    this.diagnostics = options.diagnostics;
    this.retryAfter = options.retryAfter;
    this.detail = options.detail;
  }
}

/** A failed start that only the operator can fix, such as a busy port. Its message names the fix. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

const NOT_FOUND = {
  account: 'not_found',
  'API key': 'not_found',
  bot: 'bot_not_found',
  deployment: 'deployment_not_found',
  run: 'run_not_found',
} as const;

/** Creates the error for an id that nothing visible to the caller has. */
export function notFound(what: keyof typeof NOT_FOUND, id: string): GatewayError {
  return new GatewayError(NOT_FOUND[what], `There is no ${what} "${id}".`);
}

/** Problems that one response lists. */
const MAX_DETAILS = 100;
/** Characters of one problem's path, and of its message. Both may quote the request. */
const MAX_DETAIL_LENGTH = 300;

/**
 * Creates the error for invalid fields of a request.
 *
 * @param problems every problem; the error lists at most 100.
 * @param message the summary; by default the listed problems.
 */
export function invalidInput(problems: readonly ErrorDetail[], message?: string): GatewayError {
  const details = problems
    .slice(0, MAX_DETAILS)
    .map(({ path, message }) => ({ path: cut(path), message: cut(message) }));
  const summary = details.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  if (problems.length > MAX_DETAILS) summary.push(`and ${problems.length - MAX_DETAILS} more`);
  return new GatewayError('invalid_request', message ?? summary.join('; '), { details });
}

/**
 * Maps a failed validation to its problems.
 *
 * @param skip number of leading path segments to drop, because the client did not send them.
 */
export function problemsOf({ issues }: Pick<ZodError, 'issues'>, skip = 0): ErrorDetail[] {
  return issues.map(({ path, message }) => ({ path: path.slice(skip).join('.'), message }));
}

function cut(text: string): string {
  if (text.length <= MAX_DETAIL_LENGTH) return text;
  return `${text.slice(0, MAX_DETAIL_LENGTH - 1)}…`.toWellFormed();
}
