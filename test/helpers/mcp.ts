import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type ListToolsResult,
} from '@modelcontextprotocol/sdk/types.js';

/** A request that the server received. */
export type McpRequest = {
  method: string;
  headers: IncomingHttpHeaders;
  /** The JSON-RPC method, such as `tools/call`; none for GET and DELETE. */
  rpc: string | undefined;
  /** The id of the JSON-RPC request. */
  id: unknown;
};

export type McpToolCall = {
  name: string;
  input: Record<string, unknown>;
  /** Aborted when the client cancels. */
  signal: AbortSignal;
};

/** May respond in place of the protocol handler. @returns whether it has responded. */
export type McpIntercept = (request: McpRequest, response: ServerResponse) => boolean;

/** An MCP server on 127.0.0.1, with sessions and the test's tools. */
export type McpSite = {
  /** `127.0.0.1:port` */
  host: string;
  url: string;
  requests: McpRequest[];
  calls: McpToolCall[];
  /** The number of requests with this JSON-RPC method. */
  count(rpc: string): number;
  /** The number of open sessions. */
  sessions(): number;
  /** Sets the listed tools and the page size, without notifying clients. */
  offer(tools: unknown[], pageSize?: number): void;
  /** Waits for a client that listens, then notifies all listeners that the tools changed. */
  announce(): Promise<void>;
  /** Sets the handler of all later calls. */
  handle(handler: (call: McpToolCall) => Promise<CallToolResult> | CallToolResult): void;
  intercept(intercept: McpIntercept | undefined): void;
  /** Drops every session, like a server restart. */
  restart(): Promise<void>;
  /** Stops listening and closes all connections. */
  stop(): Promise<void>;
  close(): Promise<void>;
};

type Session = { server: Server; transport: StreamableHTTPServerTransport };

/** A listed tool whose inputs are strings. */
export const tool = (name: string, ...inputs: string[]) => ({
  name,
  description: `Does ${name}`,
  inputSchema: {
    type: 'object' as const,
    properties: Object.fromEntries(inputs.map((input) => [input, { type: 'string' }])),
    required: inputs,
  },
});

export const textResult = (...texts: string[]): CallToolResult => ({
  content: texts.map((one) => ({ type: 'text', text: one })),
});

export async function startMcp(): Promise<McpSite> {
  let offered: unknown[] = [];
  let pageSize = 100;
  let handler: Parameters<McpSite['handle']>[0] = ({ name }) => textResult(`${name} was called.`);
  let intercept: McpIntercept | undefined;
  const requests: McpRequest[] = [];
  const calls: McpToolCall[] = [];
  const sessions = new Map<string, Session>();
  const listening = new Set<string>();
  const events = new EventEmitter();

  const openSession = async (): Promise<StreamableHTTPServerTransport> => {
    const server = new Server(
      { name: 'test', version: '1.0.0' },
      { capabilities: { tools: { listChanged: true } } },
    );
    server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
      const start = Number(params?.cursor ?? 0);
      const end = start + pageSize;
      const nextCursor = end < offered.length ? String(end) : undefined;
      return { tools: offered.slice(start, end), nextCursor } as ListToolsResult;
    });
    server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) => {
      const call = { name: params.name, input: params.arguments ?? {}, signal };
      calls.push(call);
      return handler(call);
    });
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        sessions.set(id, { server, transport });
      },
      onsessionclosed: (id) => {
        sessions.delete(id);
      },
    });
    await server.connect(transport);
    return transport;
  };

  const http = createServer(async (incoming, response) => {
    const { method = '', headers } = incoming;
    const body = method === 'POST' ? JSON.parse(await text(incoming)) : undefined;
    const request = { method, headers, rpc: body?.method, id: body?.id };
    requests.push(request);
    if (intercept?.(request, response)) return;
    const id = headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id)?.transport : undefined;
    if (id !== undefined && !known) return void response.writeHead(404).end();
    const transport = known ?? (await openSession());
    if (method === 'GET' && typeof id === 'string') {
      listening.add(id);
      response.on('close', () => listening.delete(id));
      setImmediate(() => events.emit('listening'));
    }
    await transport.handleRequest(incoming, response, body);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const restart = async () => {
    const all = [...sessions.values()];
    sessions.clear();
    await Promise.all(all.map(({ server }) => server.close()));
  };
  const stop = async () => {
    if (!http.listening) return;
    http.closeAllConnections();
    http.close();
    await once(http, 'close');
  };

  return {
    host: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}/mcp`,
    requests,
    calls,
    count: (rpc) => requests.filter((request) => request.rpc === rpc).length,
    sessions: () => sessions.size,
    offer: (tools, size = 100) => {
      [offered, pageSize] = [tools, size];
    },
    announce: async () => {
      while (listening.size < sessions.size) await once(events, 'listening');
      await Promise.all([...sessions.values()].map(({ server }) => server.sendToolListChanged()));
    },
    handle: (next) => {
      handler = next;
    },
    intercept: (next) => {
      intercept = next;
    },
    restart,
    stop,
    close: async () => {
      await restart();
      await stop();
    },
  };
}
