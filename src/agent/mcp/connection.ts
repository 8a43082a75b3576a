import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { withinTime } from '../../async/deadline.ts';
import type { Egress } from '../../egress/egress.ts';
import { EgressError } from '../../egress/error.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { JsonObject } from '../../text/json.ts';
import { VERSION } from '../../text/version.ts';
import { ofClient } from './client-failure.ts';
import { createMcpFetch, KEY_IN_META, LONGEST_PAUSE } from './fetch.ts';
import { collectTools, type Listing, toolPage } from './listing.ts';
import { type CallResult, callResult } from './result.ts';

/** A tool server and the headers to call it with. */
export type McpTarget = {
  /** Targets with the same key share a connection. */
  key: string;
  /** The account whose limits count the connection. */
  accountId: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Redacts the deployment's secrets from the server's listing. */
  redactor: Redactor;
  /** Names of the tools to keep; all by default. */
  only?: readonly string[] | undefined;
};

export type McpCall = {
  name: string;
  input: JsonObject;
  /** Whether the call may be retried if its outcome is unknown. */
  isRepeatable: boolean;
  /** The `Idempotency-Key` of the request. */
  idempotencyKey?: string | undefined;
};

/** Milliseconds, except `tools`. */
export type McpLimits = {
  /** For connecting and listing the tools together. */
  connect: number;
  /** For one call. */
  call: number;
  /** For terminating the session at the server. */
  close: number;
  /** How many tools of a server are kept. */
  tools: number;
};

/** A session with a server. Its calls fail with McpFailure. */
export type McpConnection = {
  /** Lists at most 10 pages and 1 MiB. Caches the listing until the server reports a change. */
  tools(): Promise<Listing>;
  /** @param signal cancels the call, also at the server. */
  call(call: Omit<McpCall, 'isRepeatable'>, signal: AbortSignal): Promise<CallResult>;
  /** Closes the session after its current calls. */
  retire(): void;
  /** Closes the session immediately. */
  close(): Promise<void>;
};

const MAX_PAGES = 10;

export type McpConnectionDependencies = {
  egress: Pick<Egress, 'of'>;
  limits: McpLimits;
  /** Aborts a session that is being opened. */
  signal: AbortSignal;
};

/** Opens a session and lists the tools. @throws McpFailure */
export async function connectTo(
  { accountId, url, headers, redactor, only }: McpTarget,
  { egress, limits, signal: lifetime }: McpConnectionDependencies,
): Promise<McpConnection> {
  let listing: Promise<Listing> | undefined;
  let calls = 0;
  let isRetired = false;
  let closing: Promise<void> | undefined;
  // Without the notification stream, we do not learn whether the listing changed.
  const forgetList = () => {
    listing = undefined;
  };

  const address = URL.parse(url);
  if (!address) throw ofClient(new EgressError('invalid-url'));
  const client = new Client(
    { name: 'parley', version: VERSION },
    // Nobody can answer the questions of a server during a run.
    { versionNegotiation: { mode: 'auto' }, inputRequired: { autoFulfill: false } },
  );
  client.setNotificationHandler('notifications/tools/list_changed', forgetList);
  const transport = new StreamableHTTPClientTransport(address, {
    fetch: createMcpFetch(egress.of(accountId), forgetList),
    requestInit: { headers },
    // Egress follows redirects and checks their targets.
    redirectPolicy: 'follow',
    onInsufficientScope: 'throw',
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

  /** Servers of older versions report changes without a request. Ends with the connection. */
  const followChanges = async () => {
    const { tools } = client.getServerCapabilities() ?? {};
    if (client.getProtocolEra() !== 'modern' || !tools?.listChanged) return;
    const options = { timeout: limits.connect + LONGEST_PAUSE };
    for (;;) {
      const { closed } = await client.listen({ toolsListChanged: true }, options);
      await closed;
    }
  };

  /** The client has no transport until the version is negotiated. */
  const stop = async () => {
    await client.close();
    await transport.close();
  };

  const close = () => {
    closing ??= withinTime(limits.close, transport.terminateSession())
      .catch(() => {})
      .then(stop);
    return closing;
  };

  const connection: McpConnection = {
    tools() {
      if (listing) return listing;
      const pending = withinTime(limits.connect, list(), timeout).catch((error) => {
        if (listing === pending) forgetList();
        throw ofClient(error);
      });
      listing = pending;
      return pending;
    },

    async call({ name, input, idempotencyKey }, signal) {
      calls += 1;
      // The client never removes its listener, so it gets a signal of this call only.
      const call = new AbortController();
      const abort = () => call.abort(signal.reason);
      signal.addEventListener('abort', abort);
      try {
        signal.throwIfAborted();
        const meta = idempotencyKey && { _meta: { [KEY_IN_META]: idempotencyKey } };
        const params = { name, arguments: input, ...meta };
        const request = { method: 'tools/call' as const, params };
        const options = { signal: call.signal, timeout: limits.call };
        return await client.request(request, callResult, options);
      } catch (error) {
        throw signal.aborted ? signal.reason : ofClient(error);
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

  const abort = () => void stop();
  lifetime.addEventListener('abort', abort);
  try {
    const options = { timeout: limits.connect };
    const opened = client.connect(transport, options).then(() => connection.tools());
    await withinTime(limits.connect, opened, timeout);
    followChanges().catch(forgetList);
    return connection;
  } catch (error) {
    void close();
    throw ofClient(error);
  } finally {
    lifetime.removeEventListener('abort', abort);
  }
}

function timeout(): EgressError {
  return new EgressError('timeout');
}
