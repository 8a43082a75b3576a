import { EgressError } from '../../egress/error.ts';

/**
 * - `session-gone`: the server has discarded the session and did not run the request.
 * - `unreachable`: the server is unreachable.
 * - `broken`: the response is missing, incomplete or invalid.
 * - `timeout`: no response arrived in time.
 * - `refused`: the status is an error that does not mean `session-gone`.
 * - `too-many`: too many connections are in use.
 * - `protocol`: the server returned a protocol error, with its own message.
 */
export type McpFailureCode =
  | 'session-gone'
  | 'unreachable'
  | 'broken'
  | 'timeout'
  | 'refused'
  | 'too-many'
  | 'protocol';

/**
 * The reason why a tool server returned no result. The message names no address; the message of `protocol` comes from
 * the server.
 */
export class McpFailure extends Error {
  override readonly name = 'McpFailure';
  readonly code: McpFailureCode;
  /** A short error type for traces. */
  readonly type: string;

  constructor(
    code: McpFailureCode,
    message: string,
    { type, ...options }: ErrorOptions & { type: string },
  ) {
    super(message, options);
    this.code = code;
    this.type = type;
  }

  /** Whether the server may have performed the call, although no result arrived. */
  get isUnanswered(): boolean {
    if (this.cause instanceof EgressError) return this.cause.isUnanswered;
    return this.code === 'broken' || this.code === 'timeout';
  }
}

/** Maps an error of the network to an McpFailure. `client-failure.ts` maps the errors of the MCP client. */
export function toMcpFailure(cause: unknown): McpFailure {
  if (cause instanceof McpFailure) return cause;
  if (cause instanceof EgressError) return ofEgress(cause);
  return broken(cause);
}

function ofEgress(cause: EgressError): McpFailure {
  const { code, message } = cause;
  if (code === 'broken-answer') return broken(cause);
  const type = code.replaceAll('-', '_');
  return new McpFailure(code === 'timeout' ? 'timeout' : 'unreachable', message, { cause, type });
}

export function broken(cause: unknown): McpFailure {
  const { message } = new EgressError('broken-answer');
  return new McpFailure('broken', message, { cause, type: 'broken_answer' });
}
