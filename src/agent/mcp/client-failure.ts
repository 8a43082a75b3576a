import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { EgressError } from '../../egress/error.ts';
import { broken, McpFailure, toMcpFailure } from './failure.ts';

/** The error with which `createMcpFetch` ends a stream without a response. The code is one of the server's own range. */
export const CONNECTION_CLOSED = { code: -32000, message: 'Connection closed' };

/** Maps an error of the MCP client or of the network to an McpFailure. */
export function ofClient(cause: unknown): McpFailure {
  if (cause instanceof SdkHttpError) return ofStatus(cause, cause.status);
  if (cause instanceof InsufficientScopeError) return ofStatus(cause, 403);
  if (cause instanceof UnauthorizedError) return ofStatus(cause, 401);
  if (cause instanceof ProtocolError) return ofProtocol(cause);
  if (cause instanceof SdkError) return ofClientItself(cause);
  return toMcpFailure(cause);
}

/** An unknown session gives 404 (MCP, "Streamable HTTP", session management), or 400 from some real servers. */
function ofStatus(cause: Error, status: number): McpFailure {
  const code = status === 404 || status === 400 ? 'session-gone' : 'refused';
  const message = `The server answered with HTTP status ${status}.`;
  return new McpFailure(code, message, { cause, type: String(status) });
}

function ofProtocol(cause: ProtocolError): McpFailure {
  const { code, message } = cause;
  if (code === CONNECTION_CLOSED.code && message === CONNECTION_CLOSED.message)
    return broken(cause);
  return new McpFailure('protocol', message, { cause, type: 'protocol_error' });
}

/** The negotiation of the version wraps errors of the network. */
function ofClientItself(error: SdkError): McpFailure {
  if (error.code === SdkErrorCode.RequestTimeout) return toMcpFailure(new EgressError('timeout'));
  return error.cause instanceof EgressError ? toMcpFailure(error.cause) : broken(error);
}
