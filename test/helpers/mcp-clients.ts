import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

type Options = { headers?: Record<string, string>; query?: string };

type CallOptions = {
  onprogress?: (progress: { progress: number; message?: string | undefined }) => void;
  signal?: AbortSignal;
};

/** What the tests use of a client, whichever package it is of. */
export type McpClient = {
  version(): string | undefined;
  listTools(cursor?: string): Promise<{
    tools: {
      name: string;
      title?: string | undefined;
      description?: string | undefined;
      inputSchema: object;
      outputSchema?: object | undefined;
      annotations?: object | undefined;
    }[];
    nextCursor?: string | undefined;
  }>;
  call(
    name: string,
    input: Record<string, unknown>,
    options?: CallOptions,
  ): Promise<{
    content: unknown;
    structuredContent?: unknown;
    isError?: boolean | undefined;
    _meta?: Record<string, unknown> | undefined;
  }>;
  templates(): Promise<{ resourceTemplates: { uriTemplate: string }[] }>;
  read(uri: string): Promise<{ contents: object[] }>;
  close(): Promise<void>;
};

const INFO = { name: 'test', version: '1.0.0' };

function addressOf(url: string, { headers = {}, query = '' }: Options) {
  return [new URL(`${url}/mcp${query}`), { requestInit: { headers } }] as const;
}

/** Connects a client of version 2, which speaks the version 2026-07-28 without sessions. */
export async function connectNewer(url: string, options: Options): Promise<McpClient> {
  const client = new Client(INFO, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(...addressOf(url, options)));
  return {
    version: () => client.getNegotiatedProtocolVersion(),
    listTools: (cursor) => client.listTools(cursor === undefined ? undefined : { cursor }),
    call: (name, input, more) => client.callTool({ name, arguments: input }, more),
    templates: () => client.listResourceTemplates(),
    read: (uri) => client.readResource({ uri }),
    close: () => client.close(),
  };
}

/** Connects a client of the package before, which speaks versions with sessions. */
export async function connectOlder(url: string, options: Options): Promise<McpClient> {
  const client = new OlderClient(INFO);
  const transport = new OlderTransport(...addressOf(url, options));
  await client.connect(transport as Parameters<OlderClient['connect']>[0]);
  return {
    version: () => transport.protocolVersion,
    listTools: (cursor) => client.listTools(cursor === undefined ? undefined : { cursor }),
    call: async (name, input, more) => {
      const result = await client.callTool({ name, arguments: input }, undefined, more);
      return { content: [], ...result } as Awaited<ReturnType<McpClient['call']>>;
    },
    templates: () => client.listResourceTemplates(),
    read: (uri) => client.readResource({ uri }),
    close: () => client.close(),
  };
}
