import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { EgressError } from '../../egress/error.ts';

/**
 * - `session-gone`: the server has discarded the session and did not run the request.
 * - `unreachable`: the server is unreachable.
 * - `broken`: the response is missing, incomplete or invalid.
 * - `timeout`: no response arrived in time.
 * - `refused`: the status is an error other than those of `session-gone`.
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
}

/** The MCP client rejects pending requests with this error when their connection closes. */
export const CONNECTION_CLOSED = { code: ErrorCode.ConnectionClosed, message: 'Connection closed' };

/** Maps an error of the MCP client or of the network to an McpFailure. */
export function toMcpFailure(cause: unknown): McpFailure {
  if (cause instanceof McpFailure) return cause;
  if (cause instanceof EgressError) return ofEgress(cause);
  if (cause instanceof StreamableHTTPError) return ofStatus(cause);
  if (cause instanceof McpError) return ofProtocol(cause);
  return broken(cause);
}

function ofEgress(cause: EgressError): McpFailure {
  const { code, message } = cause;
  if (code === 'broken-answer') return broken(cause);
  const type = code.replaceAll('-', '_');
  return new McpFailure(code === 'timeout' ? 'timeout' : 'unreachable', message, { cause, type });
}

/** An unknown session gives 404 (MCP, "Streamable HTTP", session management), or 400 from some real servers. */
function ofStatus(cause: StreamableHTTPError): McpFailure {
  const { code: status = -1 } = cause;
  if (status < 100) return broken(cause);
  const code = status === 404 || status === 400 ? 'session-gone' : 'refused';
  const message = `The server answered with HTTP status ${status}.`;
  return new McpFailure(code, message, { cause, type: String(status) });
}

function ofProtocol(cause: McpError): McpFailure {
  const message = cause.message.replace(/^MCP error -?\d+: /, '');
  if (cause.code === ErrorCode.RequestTimeout) return ofEgress(new EgressError('timeout'));
  if (cause.code === CONNECTION_CLOSED.code && message === CONNECTION_CLOSED.message)
    return broken(cause);
  return new McpFailure('protocol', message, { cause, type: 'protocol_error' });
}

function broken(cause: unknown): McpFailure {
  const { message } = new EgressError('broken-answer');
  return new McpFailure('broken', message, { cause, type: 'broken_answer' });
}
