import { PothosValidationError } from '@pothos/core';
import { GraphQLError } from 'graphql';
import type { ZodError } from 'zod';
import { Prisma } from './generated/prisma/client.ts';
import { withoutValues } from './graphql-message.ts';
import { isOutage } from './outage.ts';

/**
 * Every error code that leaves Parley, with its HTTP status: the closed list. REST writes them as they stand,
 * GraphQL in capitals as `extensions.code`. Source: the API document, "Errors".
 */
export const ERROR_STATUS = {
  invalid_json: 400,
  invalid_request: 400,
  request_too_large: 400,
  bot_not_deployed: 400,
  idempotency_conflict: 400,
  deployment_not_deployable: 400,
  session_busy: 400,
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
  /** Of a run only: the process that worked on it has died. */
  interrupted: 500,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** Reads a code as GraphQL writes it. What is none of ours is a defect, and so `internal_error`. */
export function readErrorCode(text: string): ErrorCode {
  const code = text.toLowerCase();
  return code in ERROR_STATUS ? (code as ErrorCode) : 'internal_error';
}

/** One thing wrong with the input: where it stands, dotted from the input's root, and what is wrong. */
export type ErrorDetail = { path: string; message: string };

/**
 * An error that the caller is meant to see. Whatever else is thrown is a defect or an outage: it is logged
 * and leaves as `internal_error`.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  /** For `invalid_request`: all that is wrong, not only the first. */
  readonly details: ErrorDetail[] | undefined;
  /** The run that failed, where one had begun. */
  readonly runId: string | undefined;
  /** For `rate_limit_exceeded`: whole seconds to wait, at least 1. */
  readonly retryAfter: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      details?: ErrorDetail[];
      runId?: string;
      retryAfter?: number;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.details = options.details;
    this.runId = options.runId;
    this.retryAfter = options.retryAfter;
  }
}

/** Something that only the operator can mend, such as a busy port. Its message says what to do. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

/** How many problems of one request its answer names. */
const MAX_DETAILS = 100;
/** Characters of the path and of the message of one problem: both may quote the request. */
const MAX_DETAIL_LENGTH = 300;

/**
 * The one mapping of failed validation: each problem with its path, at most 100 of them.
 *
 * @param skip how many of a path's first segments the caller does not know.
 */
export function invalidRequest({ issues }: ZodError, skip = 0): GatewayError {
  const details = issues.slice(0, MAX_DETAILS).map(({ path, message }) => ({
    path: cut(path.slice(skip).join('.')),
    message: cut(message),
  }));
  const summary = details.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  if (issues.length > MAX_DETAILS) summary.push(`and ${issues.length - MAX_DETAILS} more`);
  return new GatewayError('invalid_request', summary.join('; '), { details });
}

function cut(text: string): string {
  if (text.length <= MAX_DETAIL_LENGTH) return text;
  return `${text.slice(0, MAX_DETAIL_LENGTH - 1)}…`.toWellFormed();
}

/**
 * The one masking rule: a `GatewayError` passes, everything else becomes `internal_error` and keeps its cause
 * for the log.
 */
export function toGatewayError(error: unknown): GatewayError {
  const original = error instanceof GraphQLError ? (error.originalError ?? error) : error;
  if (original instanceof GatewayError) return original;
  if (isRequestError(original) || original instanceof PothosValidationError) {
    return new GatewayError('invalid_request', withoutValues(original.message));
  }
  if (isUnstorable(original)) {
    return new GatewayError('invalid_request', 'The request holds U+0000, which cannot be stored.');
  }
  const message = isOutage(original) ? OUTAGE : 'Something went wrong on our side.';
  return new GatewayError('internal_error', message, { cause: original });
}

const OUTAGE =
  'The database did not answer in time. A change that was requested may or may not have been made. Try again in a few seconds.';

/** What PostgreSQL says of text with U+0000. Only an id or a cursor comes so far: other text is checked. */
function isUnstorable(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.message.includes('22021');
}

/** The same rule for GraphQL: keeps the place and the protocol's own extensions. */
export function toGraphQLError(error: unknown): GraphQLError {
  const { code, message, details, runId, retryAfter } = toGatewayError(error);
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
      ...(runId && { runId }),
      ...(retryAfter && { retryAfter }),
    },
  });
}

/**
 * GraphQL's own refusal of a document or its variables: it is found before execution, and so has no path in
 * the response. Its text speaks of the caller's request alone.
 */
function isRequestError(error: unknown): error is GraphQLError {
  return error instanceof GraphQLError && error.path === undefined;
}
