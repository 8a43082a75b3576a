import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Redactor } from '../../deployments/redact.ts';
import type { Egress } from '../../egress/egress.ts';
import { EgressError } from '../../egress/error.ts';
import type { JsonObject } from '../../json.ts';
import { VERSION } from '../../version.ts';
import { toMcpFailure } from './failure.ts';
import { createMcpFetch } from './fetch.ts';
import { collectTools, type Listing, toolPage } from './listing.ts';
import { type CallResult, callResult } from './result.ts';

/** A server of tools, and as whom it is called. */
export type McpTarget = {
  /** The same for those who may share a connection, and for nobody else. */
  key: string;
  /** The account that the connection counts for. */
  accountId: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Takes the deployment's secrets out of what the server tells of its tools. */
  redactor: Redactor;
  /** The server's names of the tools to keep; all by default. */
  only?: readonly string[] | undefined;
};

/** Milliseconds, but for `tools`. */
export type McpLimits = {
  /** For connecting and listing the tools, together. */
  connect: number;
  /** For one call. */
  call: number;
  /** For saying farewell to the server. */
  close: number;
  /** How many tools of a server are kept. */
  tools: number;
};

/** A session with a server. What fails, fails with McpFailure. */
export type McpConnection = {
  /** Those of at most 10 pages and 1 MiB; asked again once the server says that they changed. */
  tools(): Promise<Listing>;
  /** @param signal cancels the call, also at the server. */
  call(name: string, input: JsonObject, signal: AbortSignal): Promise<CallResult>;
  /** Ends the session, once the calls under way have ended. */
  retire(): void;
  /** Ends the session at once. */
  close(): Promise<void>;
};

const MAX_PAGES = 10;

export type McpConnectionDependencies = {
  egress: Pick<Egress, 'of'>;
  limits: McpLimits;
  /** Ends a session that is only just begun. */
  signal: AbortSignal;
};

/** Begins a session and lists the tools. @throws McpFailure */
export async function connectTo(
  { accountId, url, headers, redactor, only }: McpTarget,
  { egress, limits, signal: lifetime }: McpConnectionDependencies,
): Promise<McpConnection> {
  let listing: Promise<Listing> | undefined;
  let calls = 0;
  let isRetired = false;
  let closing: Promise<void> | undefined;
  // Whether the list still holds is not known once the server cannot tell of changes.
  const forgetList = () => {
    listing = undefined;
  };

  const address = URL.parse(url);
  if (!address) throw toMcpFailure(new EgressError('invalid-url'));
  const client = new Client({ name: 'parley', version: VERSION });
  client.setNotificationHandler(ToolListChangedNotificationSchema, forgetList);
  const transport = new StreamableHTTPClientTransport(address, {
    fetch: createMcpFetch(egress.of(accountId), forgetList),
    requestInit: { headers },
    // They are followed by the guard, which checks where they lead.
    redirectPolicy: 'follow',
  });

  const list = async () => {
    const tools = collectTools(redactor, { limit: limits.tools, only });
    if (!client.getServerCapabilities()?.tools) return tools.listing();
    let cursor: string | null | undefined;
    for (let page = 0; page < MAX_PAGES && !tools.isFull(); page += 1) {
      const request = { method: 'tools/list' as const, params: cursor ? { cursor } : {} };
      const answer = await client.request(request, toolPage, { timeout: limits.connect });
      tools.add(answer.tools);
      cursor = answer.nextCursor;
      if (!cursor) break;
    }
    return tools.listing();
  };

  const close = () => {
    closing ??= within(limits.close, transport.terminateSession())
      .catch(() => {})
      .then(() => client.close());
    return closing;
  };

  const connection: McpConnection = {
    tools() {
      if (listing) return listing;
      const asked = within(limits.connect, list()).catch((error) => {
        if (listing === asked) forgetList();
        throw toMcpFailure(error);
      });
      listing = asked;
      return asked;
    },

    async call(name, input, signal) {
      calls += 1;
      // The client listens for longer than the call lasts.
      const call = new AbortController();
      const abort = () => call.abort(signal.reason);
      signal.addEventListener('abort', abort);
      try {
        signal.throwIfAborted();
        const request = { method: 'tools/call' as const, params: { name, arguments: input } };
        const options = { signal: call.signal, timeout: limits.call };
        return await client.request(request, callResult, options);
      } catch (error) {
        throw signal.aborted ? signal.reason : toMcpFailure(error);
      } finally {
        signal.removeEventListener('abort', abort);
        calls -= 1;
        if (isRetired && calls === 0) void close();
      }
    },

    retire() {
      isRetired = true;
      if (calls === 0) void close();
    },

    close,
  };

  const stop = () => void client.close();
  lifetime.addEventListener('abort', stop);
  try {
    const options = { timeout: limits.connect };
    await within(
      limits.connect,
      client.connect(transport, options).then(() => connection.tools()),
    );
    return connection;
  } catch (error) {
    void close();
    throw toMcpFailure(error);
  } finally {
    lifetime.removeEventListener('abort', stop);
  }
}

async function within<Value>(milliseconds: number, work: Promise<Value>): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new EgressError('timeout')), milliseconds);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
