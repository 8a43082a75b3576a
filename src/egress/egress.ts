import { Agent, type Dispatcher } from 'undici';
import { startDeadline, untilAborted } from '../async/deadline.ts';
import { VERSION } from '../text/version.ts';
import { askDemoShop } from './demo-shop.ts';
import { EgressError, MAX_REDIRECTS, toEgressError } from './error.ts';
import { createGuardedConnector, type HostLookup } from './guard.ts';
import { isOwnKey } from './idempotency-key.ts';
import { discard, type EgressResponse, firstOf, readResponse, toResponse } from './response.ts';
import { createEgressSlots, EGRESS_LIMITS, type EgressLimits } from './slots.ts';

/**
 * Outgoing HTTP of agents, without access to private networks. It follows at most 3 redirects and checks each one. A
 * redirect to another origin carries only headers that cannot contain a secret: `Accept`, `Accept-Language`,
 * `Content-Type`, `User-Agent`, and an `Idempotency-Key` that Parley has made. It keeps no cookies.
 */
export type Egress = Exchanges & {
  /** Exchanges of one account: at most 256 concurrent ones, and 2,048 of all accounts together. */
  of(accountId: string): Exchanges;
  /** Closes all connections. Exchanges in progress fail. */
  close(): Promise<void>;
};

export type Exchanges = {
  /** @throws EgressError if there is no response; `signal.reason` once the signal is aborted. */
  request(request: EgressRequest): Promise<EgressResponse>;
  /**
   * A `fetch` for libraries: it accepts a URL and a text body. The response is a stream without limits of size or time;
   * the signal aborts it.
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
  /** Connection headers such as `Host` are not allowed. `Accept-Encoding` is always `identity`. */
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  /** Milliseconds for the whole exchange, including redirects and the body. */
  timeout: number;
  signal: AbortSignal;
};

const MAX_HEADER_BYTES = 16 * 1024;
/** How long an idle connection is kept. The server's `Keep-Alive` header does not change this. */
const KEEP_ALIVE_MS = 10_000;

const REDIRECTS = [301, 302, 303, 307, 308];
const ANONYMOUS_HEADERS = ['accept', 'accept-language', 'content-type', 'user-agent'];

/** Headers of the connection and its framing: RFC 9110, sections 7.2, 7.6.1, 8.6 and 10.1.1. */
const CONNECTION_HEADER =
  /^(host|connection|content-length|transfer-encoding|keep-alive|te|trailer|upgrade|expect|proxy-.*)$/;

/**
 * @param allowedHosts targets that are allowed even if private: `host:port` with a name or an address, IPv6 in brackets.
 * @param lookup resolves host names; see `createGuardedConnector` for the default.
 * @param limits of concurrent exchanges; `EGRESS_LIMITS` by default.
 * @throws TypeError for an invalid entry of `allowedHosts`.
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
  // The caller sets time limits, so undici's are off.
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
        headers = filterHeaders(
          headers,
          (name, value) => ANONYMOUS_HEADERS.includes(name) || isOwnKey(name, value),
        );
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
      const demo = askDemoShop(request);
      if (demo) return demo;
      const release = acquire();
      using exchange = startDeadline(timeout, { signal, reason: () => new EgressError('timeout') });
      try {
        const response = send({ ...request, signal: exchange.signal });
        return await settled(response.then(readResponse), exchange.signal);
      } finally {
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
        const response = await settled(
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

/** Rejects as soon as the signal aborts. Undici notices an abort only after it has connected. */
async function settled<Value>(exchange: Promise<Value>, signal: AbortSignal): Promise<Value> {
  try {
    return await untilAborted(exchange, signal);
  } catch (error) {
    throw signal.aborted ? signal.reason : toEgressError(error);
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

function filterHeaders(
  headers: Record<string, string>,
  isKept: (name: string, value: string) => boolean,
) {
  return Object.fromEntries(Object.entries(headers).filter(([name, value]) => isKept(name, value)));
}
