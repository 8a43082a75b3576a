import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { EgressError } from '../../egress/error.ts';

/**
 * - `session-gone`: the server knows the session no more, and has done nothing.
 * - `away`: the server was not reached.
 * - `broken`: what came, if anything, is no answer.
 * - `timeout`: nothing came in time.
 * - `refused`: another status than 2xx.
 * - `too-many`: no connection was made, because too many are in use.
 * - `protocol`: an error of the protocol, in the server's own words.
 */
export type McpFailureCode =
  | 'session-gone'
  | 'away'
  | 'broken'
  | 'timeout'
  | 'refused'
  | 'too-many'
  | 'protocol';

/** Why a server of tools gave no answer, in words that name no address; those of `protocol` are the server's. */
export class McpFailure extends Error {
  override readonly name = 'McpFailure';
  readonly code: McpFailureCode;
  /** The same in one word, for traces. */
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

/** The error with which the protocol's client ends what waits for an answer when its connection ends. */
export const CONNECTION_CLOSED = { code: ErrorCode.ConnectionClosed, message: 'Connection closed' };

/** What an error of the protocol's client or of the network comes down to. */
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
  return new McpFailure(code === 'timeout' ? 'timeout' : 'away', message, { cause, type });
}

/** Sources: MCP, "Streamable HTTP", session management: 404; and what servers in use answer there: 400. */
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
