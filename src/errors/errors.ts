import type { ZodError } from 'zod';

/** What clients know of an error code. */
type ErrorFacts = {
  /** The HTTP status. */
  status: number;
  /** What went wrong, in a sentence. */
  meaning: string;
  /** The meaning for clients of REST, if it differs. */
  inRest?: string;
};

/**
 * The closed list of error codes. REST sends a code as it is; GraphQL sends it in capitals as `extensions.code`. Only runs
 * have `interrupted`. Source: the API document, "Errors".
 */
export const ERRORS = {
  invalid_json: { status: 400, meaning: 'The request body is not valid JSON.' },
  invalid_request: {
    status: 400,
    meaning: 'The request is invalid; `details` lists the problems.',
  },
  request_too_large: {
    status: 400,
    meaning: 'The request body is larger than 1 MiB, or the response could be larger than 16 MiB.',
  },
  bot_not_deployed: {
    status: 400,
    meaning: 'The bot has no active deployment in the environment.',
  },
  idempotency_conflict: {
    status: 400,
    meaning: 'The idempotency key was used for another request.',
    inRest: 'A different request was already sent with this `Idempotency-Key`.',
  },
  deployment_not_deployable: {
    status: 400,
    meaning: 'The deployment failed, or is in the wrong environment.',
    inRest: 'The deployment never succeeded, so it cannot be deployed again.',
  },
  definition_invalid: {
    status: 400,
    meaning:
      'The definition has errors. A chat with a draft returns it with `diagnostics`; a REST deploy returns it with `strict`.',
    inRest: 'The definition has errors. Only with `strict`.',
  },
  already_decided: {
    status: 400,
    meaning: 'Another decision on the tool call was made before.',
  },
  tool_gone: {
    status: 400,
    meaning: 'The tool of the call, or what the call needs, no longer exists.',
  },
  unsupported_content: {
    status: 400,
    meaning: 'A message has content other than text.',
    inRest:
      'A message has an image, audio, a file or other content besides text. Only at OpenAI’s routes.',
  },
  unsupported_parameter: {
    status: 400,
    meaning: 'A parameter requests a feature that no bot supports.',
    inRest:
      'A parameter requests a feature that no bot supports, such as tools of the client. Only at OpenAI’s routes.',
  },
  not_last: {
    status: 400,
    meaning: 'The turn is not the last one of its session.',
    inRest: 'The response is not the last one of its conversation. Only at OpenAI’s routes.',
  },
  session_busy: { status: 400, meaning: 'The session is busy with another message.' },
  search_too_broad: {
    status: 400,
    meaning:
      'A search for a text takes longer than 2 seconds, or statistics would read too many runs or ratings.',
    inRest:
      'A search for a text takes longer than 2 seconds, or statistics would read too many runs. GraphQL only: no route has either.',
  },
  missing_api_key: { status: 401, meaning: 'The request has no API key.' },
  invalid_api_key: {
    status: 401,
    meaning: 'The API key or session token is unknown, revoked or expired.',
  },
  bot_access_denied: { status: 403, meaning: 'The API key may not use the bot.' },
  insufficient_scope: { status: 403, meaning: 'The API key lacks the required scope.' },
  model_not_found: {
    status: 404,
    meaning: 'The bot does not exist, or has no active deployment in the environment.',
    inRest:
      'The model does not exist: the key has no such bot, or the bot is not deployed. Only at OpenAI’s routes.',
  },
  bot_not_found: { status: 404, meaning: 'The bot does not exist.' },
  deployment_not_found: { status: 404, meaning: 'The deployment does not exist.' },
  evaluation_not_found: { status: 404, meaning: 'The bot has no such evaluation.' },
  approval_not_found: { status: 404, meaning: 'No such tool call waits or waited for approval.' },
  run_not_found: { status: 404, meaning: 'The run does not exist.' },
  not_found: {
    status: 404,
    meaning: 'The object does not exist.',
    inRest: 'The route does not exist.',
  },
  rate_limit_exceeded: {
    status: 429,
    meaning: 'A limit of the account or of the client address is exceeded.',
    inRest:
      'The account reached a limit: requests, active runs, queued background runs or open streams. `retry_after` and the header `Retry-After` give the time to wait.',
  },
  internal_error: {
    status: 500,
    meaning: 'The server failed.',
    inRest:
      'An internal error occurred. If the database is not available, `Retry-After` gives the time to wait.',
  },
  model_error: { status: 500, meaning: 'The model failed or returned an invalid reply.' },
  model_timeout: { status: 500, meaning: 'The model did not reply in time.' },
  content_filtered: {
    status: 500,
    meaning: 'A content filter of the model’s server removed the reply.',
  },
  interrupted: { status: 500, meaning: 'The process that executed the run died or was stopped.' },
} as const satisfies Record<string, ErrorFacts>;

export type ErrorCode = keyof typeof ERRORS;

export const ERROR_CODES = Object.keys(ERRORS).map(readErrorCode);

/** Reads a GraphQL error code. An unknown code is a defect, so it becomes `internal_error`. */
export function readErrorCode(text: string): ErrorCode {
  const code = text.toLowerCase();
  return code in ERRORS ? (code as ErrorCode) : 'internal_error';
}

/** One problem in the input. `path` is dotted, from the input's root. */
export type ErrorDetail = { path: string; message: string };

/** An error that is safe to show to the caller. Any other error is logged and masked as `internal_error`. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  /** For `invalid_request`: every problem, up to a limit. Of some other errors: the field that caused them. */
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
  approval: 'approval_not_found',
  evaluation: 'evaluation_not_found',
} as const;

/**
 * Creates the error for an id that nothing visible to the caller has.
 *
 * @param path of the field of the request that has the id, if another field names the object of the request.
 */
export function notFound(what: keyof typeof NOT_FOUND, id: string, path?: string): GatewayError {
  const message = `There is no ${what} "${id}".`;
  const details = path === undefined ? undefined : [{ path, message: cut(message) }];
  return new GatewayError(NOT_FOUND[what], message, details && { details });
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
