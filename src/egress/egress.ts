import { Agent, type Dispatcher } from 'undici';
import { VERSION } from '../version.ts';
import { EgressError, MAX_REDIRECTS, toEgressError } from './error.ts';
import { createGuardedConnector, type HostLookup } from './guard.ts';
import { discard, type EgressResponse, firstOf, readResponse, toResponse } from './response.ts';
import { createEgressSlots, EGRESS_LIMITS, type EgressLimits } from './slots.ts';

/**
 * How agents reach the world: over HTTP, and never into private networks. At most 3 redirects are followed, each
 * checked anew. To another origin they carry only those of the caller's headers that cannot hold a secret:
 * `Accept`, `Accept-Language`, `Content-Type` and `User-Agent`. No cookies are kept.
 */
export type Egress = Exchanges & {
  /** The same for one account, which has at most 256 exchanges under way, and all together 2,048. */
  of(accountId: string): Exchanges;
  /** Ends every connection; what is under way fails. */
  close(): Promise<void>;
};

export type Exchanges = {
  /** @throws EgressError where there is no answer; `signal.reason` once the signal is aborted. */
  request(request: EgressRequest): Promise<EgressResponse>;
  /**
   * The same for clients that want a `fetch`: of an address, with a text as body. The answer is a stream, without
   * limits of size and time but the signal's.
   */
  fetch(
    input: string | URL | Request,
    init?: Pick<RequestInit, 'method' | 'headers' | 'body' | 'signal'>,
  ): Promise<Response>;
};

export type EgressRequest = {
  method: string;
  /** `http:` or `https:`, without a user name or password. */
  url: string;
  /** None that belongs to the connection, such as `Host`. `Accept-Encoding` is always `identity`. */
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  /** Milliseconds for the whole exchange, with its redirects and its body. */
  timeout: number;
  signal: AbortSignal;
};

const MAX_HEADER_BYTES = 16 * 1024;
/** How long a connection that nobody uses is kept, whatever its server asks for. */
const KEEP_ALIVE_MS = 10_000;

const REDIRECTS = [301, 302, 303, 307, 308];
const ANONYMOUS_HEADERS = ['accept', 'accept-language', 'content-type', 'user-agent'];

/** Headers of the connection and its framing: RFC 9110, sections 7.2, 7.6.1, 8.6 and 10.1.1. */
const CONNECTION_HEADER =
  /^(host|connection|content-length|transfer-encoding|keep-alive|te|trailer|upgrade|expect|proxy-.*)$/;

/**
 * @param allowedHosts `host:port`, a name or an address, of IPv6 in brackets: private targets that are open.
 * @param lookup finds the addresses of host names; see the guard for the default.
 * @param limits of exchanges under way; those of `EGRESS_LIMITS` by default.
 * @throws TypeError for an entry of `allowedHosts` that is not of this form.
 */
export function createEgress({
  allowedHosts,
  lookup,
  limits = EGRESS_LIMITS,
}: {
  allowedHosts: string[];
  lookup?: HostLookup;
  limits?: EgressLimits;
}): Egress {
  const connect = createGuardedConnector(allowedHosts, lookup);
  const slots = createEgressSlots(limits);
  // The caller limits the time. The agent forgets an origin with its last connection.
  const agent = new Agent({
    connect,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  });

  /** Sends a request and follows its redirects as the Fetch standard does ("HTTP-redirect fetch"). */
  const send = async ({
    method,
    body,
    signal,
    ...request
  }: Omit<EgressRequest, 'timeout'>): Promise<Dispatcher.ResponseData> => {
    let url = readUrl(request.url);
    let headers = readHeaders(request.headers);
    for (let redirects = 0; ; redirects += 1) {
      const response = await agent.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method,
        headers: { 'user-agent': `parley/${VERSION}`, ...headers, 'accept-encoding': 'identity' },
        body,
        signal,
      });
      const { statusCode: status } = response;
      const location = REDIRECTS.includes(status) && firstOf(response.headers.location);
      if (!location) return response;
      discard(response.body);
      if (redirects === MAX_REDIRECTS) throw new EgressError('too-many-redirects');
      const next = readUrl(location, url);
      if (next.origin !== url.origin) {
        headers = filterHeaders(headers, (name) => ANONYMOUS_HEADERS.includes(name));
      }
      if (status === 303 || (status < 303 && method === 'POST')) {
        [method, body] = ['GET', undefined];
        headers = filterHeaders(headers, (name) => !name.startsWith('content-'));
      }
      url = next;
    }
  };

  const exchanges = (acquire: () => () => void): Exchanges => ({
    async request({ signal, timeout, ...request }) {
      signal.throwIfAborted();
      const release = acquire();
      const exchange = new AbortController();
      const abort = () => exchange.abort(signal.reason);
      signal.addEventListener('abort', abort);
      const timer = setTimeout(() => exchange.abort(new EgressError('timeout')), timeout);
      try {
        const response = send({ ...request, signal: exchange.signal });
        return await untilAborted(response.then(readResponse), exchange.signal);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        release();
      }
    },

    async fetch(input, { method = 'GET', headers, body, signal } = {}) {
      const isText = body === undefined || body === null || typeof body === 'string';
      if (input instanceof Request || !isText) throw new EgressError('invalid-request');
      const exchange = signal ?? new AbortController().signal;
      exchange.throwIfAborted();
      const release = acquire();
      try {
        const response = await untilAborted(
          send({
            method,
            url: String(input),
            headers: Object.fromEntries(new Headers(headers)),
            body: body ?? undefined,
            signal: exchange,
          }),
          exchange,
        );
        response.body.once('close', release);
        return toResponse(response);
      } catch (error) {
        release();
        throw error;
      }
    },
  });

  return {
    ...exchanges(() => () => {}),
    of: (accountId) => exchanges(() => slots.acquire(accountId)),
    close: () => agent.destroy(),
  };
}

/** Waits no longer than the signal lets it: undici notices an abort only once it has connected. */
async function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([promise, aborted]);
  } catch (error) {
    throw signal.aborted ? signal.reason : toEgressError(error);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function readUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new EgressError('invalid-url');
  }
  return url;
}

function readHeaders(headers: EgressRequest['headers']): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  if (entries.some(([name = '']) => CONNECTION_HEADER.test(name))) {
    throw new EgressError('invalid-request');
  }
  return Object.fromEntries(entries);
}

function filterHeaders(headers: Record<string, string>, isKept: (name: string) => boolean) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isKept(name)));
}
