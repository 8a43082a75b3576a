import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { launch, startServer } from '../bench/child.ts';
import { freePort } from '../helpers/free-port.ts';
import { startSite } from '../helpers/site.ts';

/** The packages of this folder, relative to `test/bench`. */
const PACKAGES = '../clients/node_modules';
const MCP_SERVER = `${PACKAGES}/@modelcontextprotocol/server-everything/dist/index.js`;
const AIMOCK = `${PACKAGES}/@copilotkit/aimock/dist/cli.js`;
const MOCK_LLM = `${PACKAGES}/@dwmkerr/mock-llm/dist/main.js`;
const MODEL_SERVERS = join(import.meta.dirname, 'model-servers');

export type Servers = {
  /** Parley's. */
  url: string;
  operatorKey: string;
  mcpUrl: string;
  /** Origins of model servers that play the answers of `model-servers`. */
  aimockUrl: string;
  mockLlmUrl: string;
  /**
   * Stops Parley, which then sends its last traces.
   *
   * @returns the requests that the collector received.
   * @throws Error unless that includes a tool call to the MCP server.
   */
  stopAndReadTraces(): Promise<string>;
};

/** Starts Parley, an MCP server, two model servers and a collector of traces. The stack stops them. */
export async function startServers(
  signal: AbortSignal,
  stack: AsyncDisposableStack,
): Promise<Servers> {
  const collector = await startSite();
  stack.defer(collector.close);
  collector.handle((_request, response) => response.end('{}'));
  const [mcpHost, aimockHost, mockLlmHost] = await Promise.all([
    startMcpServer(signal, stack),
    startAimock(signal, stack),
    startMockLlm(signal, stack),
  ]);

  const directory = await mkdtemp(join(tmpdir(), 'parley-clients-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const port = await freePort();
  const operatorKey = makeApiKey();
  const parley = stack.use(new AsyncDisposableStack());
  const { url, output } = await startServer({
    file: '../../src/start/main.mjs',
    env: {
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      LOG_LEVEL: 'warn',
      PARLEY_DATA_DIR: directory,
      PARLEY_BOOTSTRAP_KEY: operatorKey,
      PARLEY_ALLOWED_HOSTS: [mcpHost, aimockHost, mockLlmHost].join(','),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin,
    },
    signal,
    stack: parley,
  });
  return {
    url,
    operatorKey,
    mcpUrl: `http://${mcpHost}/mcp`,
    aimockUrl: `http://${aimockHost}`,
    mockLlmUrl: `http://${mockLlmHost}`,
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
function startMcpServer(signal: AbortSignal, stack: AsyncDisposableStack): Promise<string> {
  return startOnFreePort('listening on port', { signal, stack }, (port) => ({
    file: MCP_SERVER,
    args: ['streamableHttp'],
    env: { PORT: port },
  }));
}

/** @returns the server's `host:port`. */
function startAimock(signal: AbortSignal, stack: AsyncDisposableStack): Promise<string> {
  return startOnFreePort('server listening on', { signal, stack }, (port) => ({
    file: AIMOCK,
    args: ['--port', port, '--chunk-size', '8', '--fixtures', join(MODEL_SERVERS, 'aimock.json')],
  }));
}

/** @returns the server's `host:port`. */
function startMockLlm(signal: AbortSignal, stack: AsyncDisposableStack): Promise<string> {
  return startOnFreePort('server running on', { signal, stack }, (port) => ({
    file: MOCK_LLM,
    args: ['--config', join(MODEL_SERVERS, 'mock-llm.yaml')],
    env: { PORT: port, HOST: '127.0.0.1' },
  }));
}

/**
 * Starts a server of a package.
 *
 * @param ready what the server prints once it listens.
 * @returns its `host:port`.
 */
async function startOnFreePort(
  ready: string,
  options: { signal: AbortSignal; stack: AsyncDisposableStack },
  programOf: (port: string) => { file: string; args: string[]; env?: Record<string, string> },
): Promise<string> {
  const port = await freePort();
  const program = programOf(String(port));
  const { child, output } = launch({ ...program, ...options });
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', () => {
        if (output().includes(ready)) resolve();
      });
    }
    child.once('close', () => reject(new Error(`${program.file} ended:\n${output()}`)));
  });
  return `127.0.0.1:${port}`;
}
