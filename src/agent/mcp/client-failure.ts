import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { EgressError } from '../../egress/error.ts';
import { broken, McpFailure, toMcpFailure } from './failure.ts';

/** The MCP client rejects pending requests with this error when their connection closes. */
export const CONNECTION_CLOSED = { code: ErrorCode.ConnectionClosed, message: 'Connection closed' };

/** Maps an error of the MCP client or of the network to an McpFailure. */
export function ofClient(cause: unknown): McpFailure {
  if (cause instanceof StreamableHTTPError) return ofStatus(cause);
  if (cause instanceof McpError) return ofProtocol(cause);
  return toMcpFailure(cause);
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
  if (cause.code === ErrorCode.RequestTimeout) return toMcpFailure(new EgressError('timeout'));
  if (cause.code === CONNECTION_CLOSED.code && message === CONNECTION_CLOSED.message)
    return broken(cause);
  return new McpFailure('protocol', message, { cause, type: 'protocol_error' });
}
