import OpenAI from 'openai';
import { GatewayError } from '../errors/errors.ts';
import { TooLong } from './pieces.ts';
import type { Problem } from './problem.ts';

/** Why a model call failed, as a label of the metrics. */
export type FailureReason =
  | 'bad_request'
  | 'unauthorized'
  | 'not_found'
  | 'rate_limited'
  | 'server_error'
  | 'reported'
  | 'unreachable'
  | 'timeout'
  | 'incomplete'
  | 'invalid'
  | 'too_long'
  | 'max_tokens'
  | 'content_filter';

/** A shorter key is a word such as `none`. */
const MIN_KEY = 8;

type FailureOptions = { detail?: string | undefined; status?: number | undefined; cause?: unknown };

type ModelErrorCode = 'model_error' | 'model_timeout' | 'content_filtered';

/** A failed model call. Its message quotes nothing of the server; its detail does. */
export class ModelError extends GatewayError {
  declare readonly code: ModelErrorCode;
  readonly reason: FailureReason;
  /** The status that the server answered or reported. */
  readonly status: number | undefined;

  constructor(
    code: ModelErrorCode,
    reason: FailureReason,
    message: string,
    options: FailureOptions = {},
  ) {
    super(code, message, options);
    this.reason = reason;
    this.status = options.status;
  }
}

/** An answer with another HTTP status than 2xx. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest';
  readonly status: number;
  readonly headers: Headers;
  readonly problem: Problem;

  constructor(status: number, headers: Headers, problem: Problem) {
    super(`The server answered ${status}.`);
    this.status = status;
    this.headers = headers;
    this.problem = problem;
  }
}

/** An error that the server reports in its answer. */
export class ReportedError extends Error {
  override readonly name = 'ReportedError';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super('The server reported an error.');
    this.problem = problem;
  }
}

/** An answer that ended without a finish reason. */
export class IncompleteAnswer extends Error {
  override readonly name = 'IncompleteAnswer';
}

/** An answer that a filter of the server removed. */
export class FilteredAnswer extends Error {
  override readonly name = 'FilteredAnswer';
}

/** An answer that reached the limit of tokens before its first text. */
export class SpentAnswer extends Error {
  override readonly name = 'SpentAnswer';
  /** Tokens of reasoning, if the server counts them. */
  readonly reasoningTokens: number | undefined;

  constructor(reasoningTokens: number | undefined) {
    super('The answer reached the limit of tokens before its first text.');
    this.reasoningTokens = reasoningTokens;
  }
}

/**
 * Maps an error to a ModelError.
 *
 * @param isLate whether the call's time limit has passed.
 * @param apiKey is replaced in the detail: some servers repeat a wrong key.
 */
export function describe(error: unknown, isLate: boolean, apiKey = ''): ModelError {
  const failure = failureOf(error, isLate);
  if (apiKey.length < MIN_KEY) return failure;
  return withDetail(failure, (detail) => detail.replaceAll(apiKey, '[API key]'));
}

/** Replaces the detail of a failure, if it has one. */
export function withDetail(failure: ModelError, replace: (detail: string) => string): ModelError {
  const { code, reason, message, detail, status, cause } = failure;
  if (detail === undefined) return failure;
  return new ModelError(code, reason, message, { detail: replace(detail), status, cause });
}

/** The failures that another model would share, and the statuses of a request that the server refuses. */
const SHARED: readonly FailureReason[] = ['too_long', 'max_tokens', 'content_filter'];
const REFUSED = [400, 401, 403, 422];

/** Whether another model of the server may answer a call that failed. */
export function mayFallBack({ reason, status }: ModelError): boolean {
  return !SHARED.includes(reason) && (status === undefined || !REFUSED.includes(status));
}

function failureOf(error: unknown, isLate: boolean): ModelError {
  if (isLate || error instanceof OpenAI.APIConnectionTimeoutError) {
    return new ModelError('model_timeout', 'timeout', 'The model did not answer in time.');
  }
  if (error instanceof OpenAI.APIConnectionError) {
    const { cause } = error;
    const options = { cause, detail: connectionDetail(cause) };
    return failed('unreachable', "The model's server cannot be reached.", options);
  }
  if (error instanceof RefusedRequest) {
    const { status, problem } = error;
    const detail = problem.message ? `HTTP ${status}: ${problem.message}` : `HTTP ${status}`;
    return failed(reasonOf(status), `The model's server answered ${status}.`, { detail, status });
  }
  if (error instanceof ReportedError) {
    const { message, status } = error.problem;
    const detail = message || undefined;
    return failed('reported', "The model's server reported an error.", { detail, status });
  }
  if (error instanceof IncompleteAnswer) {
    return failed('incomplete', "The model's answer is incomplete.");
  }
  if (error instanceof FilteredAnswer) {
    const message = 'A content filter of the model removed the answer.';
    return new ModelError('content_filtered', 'content_filter', message);
  }
  if (error instanceof SpentAnswer) {
    const { reasoningTokens } = error;
    const used = reasoningTokens ? ` It used ${reasoningTokens} tokens for reasoning.` : '';
    return failed('max_tokens', `The model reached max_tokens before it answered.${used}`);
  }
  if (error instanceof TooLong) return failed('too_long', error.message);
  return failed('invalid', "The model's answer is incomplete or invalid.");
}

function failed(reason: FailureReason, message: string, options: FailureOptions = {}): ModelError {
  return new ModelError('model_error', reason, message, options);
}

function reasonOf(status: number): FailureReason {
  switch (status) {
    case 401:
    case 403:
      return 'unauthorized';
    case 404:
      return 'not_found';
    case 429:
      return 'rate_limited';
    default:
      return status >= 500 ? 'server_error' : 'bad_request';
  }
}

/** The code of a system error, such as ECONNREFUSED, without the address. */
function connectionDetail(cause: unknown): string | undefined {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? code : undefined;
}
