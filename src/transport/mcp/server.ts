import {
  type AuthInfo,
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server';
import { toGatewayError } from '../../errors/mask.ts';
import type { Log } from '../../observability/log.ts';
import { VERSION } from '../../text/version.ts';
import { logInternal } from '../error-mask.ts';
import type { Exchange } from './exchange.ts';
import { RUN_TEMPLATE, readRun } from './run-resource.ts';
import { callTool } from './tool-call.ts';
import { listTools } from './tool-list.ts';

const INSTRUCTIONS =
  'Each tool is an agent: it answers a message. To continue a conversation, send the session_id of the last result.';

/** Answers one HTTP request of an MCP client. */
export type AnswerMcp = (
  request: Request,
  exchange: Exchange,
  parsedBody: unknown,
) => Promise<Response>;

/**
 * Creates the MCP server: of the version 2026-07-28, which has no sessions, and of the versions since 2024-11-05. Each request
 * has its own instance, so that any replica can answer it.
 */
export function createMcpServer(): AnswerMcp {
  /** The library passes an `AuthInfo` from the request to the server, and nothing else. */
  const exchanges = new WeakMap<AuthInfo, Exchange>();
  const handler = createMcpHandler(({ authInfo }) => {
    const exchange = authInfo && exchanges.get(authInfo);
    if (!exchange) throw new Error('The request has no exchange.');
    return createServer(exchange);
  });
  return (request, exchange, parsedBody) => {
    const authInfo: AuthInfo = { token: '', clientId: '', scopes: [] };
    exchanges.set(authInfo, exchange);
    return handler.fetch(request, { authInfo, parsedBody });
  };
}

function createServer(exchange: Exchange): Server {
  const info = { name: 'parley', title: 'Parley', version: VERSION };
  const capabilities = { tools: {}, resources: {} };
  const server = new Server(info, { capabilities, instructions: INSTRUCTIONS });
  const answer = <Result>(work: () => Promise<Result>): Promise<Result> =>
    work().catch((error) => {
      throw toProtocolError(error, exchange.log);
    });
  server.setRequestHandler('tools/list', ({ params }) =>
    answer(() => listTools(exchange, params?.cursor)),
  );
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
    answer(() =>
      callTool(exchange, params, (progress) =>
        mcpReq.notify({ method: 'notifications/progress', params: progress }),
      ),
    ),
  );
  server.setRequestHandler('resources/list', () => ({ resources: [] }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [RUN_TEMPLATE],
  }));
  server.setRequestHandler('resources/read', ({ params }) =>
    answer(() => readRun(exchange, params.uri)),
  );
  return server;
}

/** The protocol has few codes; `data.code` is the code of Parley. */
function toProtocolError(thrown: unknown, log: Log): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown;
  const error = toGatewayError(thrown);
  logInternal(log, error);
  const { InternalError, InvalidParams } = ProtocolErrorCode;
  const code = error.code === 'internal_error' ? InternalError : InvalidParams;
  return new ProtocolError(code, error.message, { code: error.code });
}
