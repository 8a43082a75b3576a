import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createMcpHandler, type ListToolsResult, Server } from '@modelcontextprotocol/server';
import { type McpRequest, type McpSite, textResult } from './mcp.ts';

/** An MCP server of the version 2026-07-28 alone, without sessions, on 127.0.0.1. */
export async function startNewerMcp(): Promise<Omit<McpSite, 'restart' | 'sessions'>> {
  let offered: unknown[] = [];
  let pageSize = 100;
  let handler: Parameters<McpSite['handle']>[0] = ({ name }) => textResult(`${name} was called.`);
  let intercept: Parameters<McpSite['intercept']>[0];
  const requests: McpRequest[] = [];
  const calls: McpSite['calls'] = [];
  const events = new EventEmitter();
  let listening = 0;

  const modern = createMcpHandler(
    () => {
      const server = new Server(
        { name: 'test', version: '1.0.0' },
        { capabilities: { tools: { listChanged: true } } },
      );
      server.setRequestHandler('tools/list', ({ params }) => {
        const start = Number(params?.cursor ?? 0);
        const end = start + pageSize;
        const nextCursor = end < offered.length ? String(end) : undefined;
        return { tools: offered.slice(start, end), nextCursor } as ListToolsResult;
      });
      server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
        const call = { name: params.name, input: params.arguments ?? {}, signal: mcpReq.signal };
        calls.push(call);
        return (await handler(call)) as { content: [] };
      });
      return server;
    },
    { legacy: 'reject' },
  );

  const http = createServer(async (incoming, response) => {
    const { method = '', headers } = incoming;
    const body = method === 'POST' ? JSON.parse(await text(incoming)) : undefined;
    const request = { method, headers, rpc: body?.method, id: body?.id };
    requests.push(request);
    if (intercept?.(request, response)) return;
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const web = new Request(`http://${headers.host}/mcp`, {
      method,
      headers: Object.entries(headers).map(([name, value]): [string, string] => [name, `${value}`]),
      signal: gone.signal,
    });
    const answer = await modern.fetch(web, { parsedBody: body });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (!answer.body) return void response.end();
    if (request.rpc === 'subscriptions/listen') {
      listening += 1;
      response.on('close', () => {
        listening -= 1;
      });
      setImmediate(() => events.emit('listening'));
    }
    Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0])
      .on('error', () => response.destroy())
      .pipe(response);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  const port = typeof address === 'object' && address ? address.port : 0;
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
    offer: (tools, size = 100) => {
      [offered, pageSize] = [tools, size];
    },
    announce: async () => {
      while (listening === 0) await once(events, 'listening');
      modern.notify.toolsChanged();
    },
    handle: (next) => {
      handler = next;
    },
    intercept: (next) => {
      intercept = next;
    },
    stop,
    close: async () => {
      await modern.close();
      await stop();
    },
  };
}
