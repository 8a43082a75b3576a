import type { DeployReply, Diagnostic } from './deployments.ts';

/** One problem in a request. */
export type ErrorDetail = {
  /** Dotted path of the field. Empty for the body as a whole. */
  path: string;
  /** Human-readable explanation of the problem. */
  message: string;
};

/** The facts of an error, from the response or from the client itself. */
export type ErrorFacts = {
  message: string;
  /** The machine-readable code, such as `rate_limit_exceeded`. */
  code: string;
  status?: number | undefined;
  requestId?: string | undefined;
  cause?: unknown;
  details?: ErrorDetail[];
  retryAfter?: number;
  runId?: string | undefined;
  diagnostics?: Diagnostic[];
  deployment?: DeployReply;
};

/** Any error of the client. */
export class ParleyError extends Error {
  override readonly name: string = 'ParleyError';
  /** HTTP status. Undefined without a response. */
  declare readonly status: number | undefined;
  /** The machine-readable code, such as `rate_limit_exceeded`. */
  declare readonly code: string;
  /** ID of the request, as the server's log has it. Undefined without a response. */
  declare readonly requestId: string | undefined;

  constructor({ message, cause, ...facts }: ErrorFacts) {
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, facts);
  }
}

/** The key is missing, unknown, expired or revoked (401). */
export class AuthenticationError extends ParleyError {
  override readonly name = 'AuthenticationError';
}

/** The key may not use the bot, or lacks a scope (403). */
export class PermissionError extends ParleyError {
  override readonly name = 'PermissionError';
}

/** The bot, the run or the deployment does not exist (404). */
export class NotFoundError extends ParleyError {
  override readonly name = 'NotFoundError';
}

/** The request is invalid, or the server refused it (400). */
export class InvalidRequestError extends ParleyError {
  override readonly name = 'InvalidRequestError';
  /** Every problem in the request. */
  declare readonly details: ErrorDetail[];
}

/** The definition has errors, so nothing was deployed. Its code is `definition_invalid`. */
export class DeployError extends ParleyError {
  override readonly name = 'DeployError';
  /** Every error in the source. */
  declare readonly diagnostics: Diagnostic[];
  /** The failed attempt, which the list of deployments contains. */
  declare readonly deployment: DeployReply;
}

/** The account reached a limit (429). */
export class RateLimitError extends ParleyError {
  override readonly name = 'RateLimitError';
  /** Seconds to wait before a retry. */
  declare readonly retryAfter: number;
}

/** The run failed or was cancelled. Its code is `model_error`, `model_timeout`, `content_filtered`, `interrupted`, `internal_error` or `cancelled`. */
export class RunError extends ParleyError {
  override readonly name = 'RunError';
  /** ID of the run, if it is known. */
  declare readonly runId: string | undefined;
}

/** The server could not be reached, or the connection broke. Its code is `connection_error`. */
export class ConnectionError extends ParleyError {
  override readonly name = 'ConnectionError';

  constructor(message: string, cause?: unknown) {
    super({ message, code: 'connection_error', cause });
  }
}

/** The call took longer than its `timeout`. Its code is `timeout`. */
export class TimeoutError extends ParleyError {
  override readonly name = 'TimeoutError';

  constructor(milliseconds: number) {
    super({ message: `No answer within ${milliseconds} ms.`, code: 'timeout' });
  }
}
