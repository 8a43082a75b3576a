import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { launch, startServer } from '../bench/child.ts';
import { startSite } from '../helpers/site.ts';

/** The reference server of MCP, relative to `test/bench`. */
const MCP_SERVER = '../clients/node_modules/@modelcontextprotocol/server-everything/dist/index.js';

export type Servers = {
  /** Parley's. */
  url: string;
  operatorKey: string;
  mcpUrl: string;
  /**
   * Stops Parley, which then sends its last traces.
   *
   * @returns the requests that the collector received.
   * @throws Error unless that includes a tool call to the MCP server.
   */
  stopAndReadTraces(): Promise<string>;
};

/** Starts Parley, an MCP server and a collector of traces. The stack stops them. */
export async function startServers(
  signal: AbortSignal,
  stack: AsyncDisposableStack,
): Promise<Servers> {
  const collector = await startSite();
  stack.defer(collector.close);
  collector.handle((_request, response) => response.end('{}'));
  const mcpHost = await startMcpServer(signal, stack);

  const directory = await mkdtemp(join(tmpdir(), 'parley-clients-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const port = await freePort();
  const operatorKey = makeApiKey();
  const parley = stack.use(new AsyncDisposableStack());
  const { url, output } = await startServer({
    file: '../../src/start.mjs',
    env: {
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      LOG_LEVEL: 'warn',
      PARLEY_DATA_DIR: directory,
      PARLEY_BOOTSTRAP_KEY: operatorKey,
      PARLEY_ALLOWED_HOSTS: mcpHost,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin,
    },
    signal,
    stack: parley,
  });
  return {
    url,
    operatorKey,
    mcpUrl: `http://${mcpHost}/mcp`,
    async stopAndReadTraces() {
      await parley.disposeAsync();
      const spans = collector.requests.flatMap(({ body }) => spansIn(JSON.parse(body)));
      const names = new Set(spans.map(({ name }) => name));
      if (!names.has('execute_tool everything.get-sum'))
        throw new Error(`received no tool call, but: ${[...names].join(', ')}\n${output()}`);
      const traces = new Set(spans.map(({ traceId }) => traceId));
      return `received ${spans.length} spans of ${traces.size} traces, with the tool call`;
    },
  };
}

type Span = { traceId: string; name: string };
/** Source: OTLP, `ExportTraceServiceRequest`. */
type TraceExport = { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };

function spansIn({ resourceSpans }: TraceExport): Span[] {
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

/** @returns the server's `host:port`. */
async function startMcpServer(signal: AbortSignal, stack: AsyncDisposableStack): Promise<string> {
  const port = await freePort();
  const env = { PORT: String(port) };
  const { child, output } = launch({
    file: MCP_SERVER,
    args: ['streamableHttp'],
    env,
    signal,
    stack,
  });
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', () => {
      if (output().includes('listening on port')) resolve();
    });
    child.once('close', () => reject(new Error(`The MCP server ended:\n${output()}`)));
  });
  return `127.0.0.1:${port}`;
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
