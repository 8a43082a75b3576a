import { lookup as systemLookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher, errors, fetch as undiciFetch } from 'undici';
import { toStorable } from '../text.ts';

/** How agents reach the world: over HTTP, and never into the networks of the operator. */
export type Egress = {
  /**
   * Asks a server, with at most 3 redirects, each checked anew. To another origin a redirect carries only the
   * headers that say nothing of the caller: `Accept`, `Accept-Language`, `Content-Type`, `User-Agent`. No
   * cookies are kept.
   *
   * @throws EgressError where there is no answer; `signal.reason` once the signal is aborted.
   */
  request(request: EgressRequest): Promise<EgressResponse>;
  /** The platform's `fetch`, for clients that want one, through the same guard. It fails on a redirect. */
  fetch: typeof globalThis.fetch;
  /** Ends every connection; what is under way fails. */
  close(): Promise<void>;
};

export type EgressRequest = {
  method: string;
  /** `http:` or `https:`, without a user name and a password. */
  url: string;
  /** Those that belong to the connection, such as `Host`, are refused; `Accept-Encoding` is not the caller's. */
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  /** Milliseconds for the whole exchange, redirects and the body included. */
  timeout: number;
  signal: AbortSignal;
};

export type EgressResponse = {
  status: number;
  /** As the server said it; empty where it said none. */
  contentType: string;
  /** The body as UTF-8, with U+FFFD in place of what is none or cannot be stored: its first 64 KiB. */
  text: string;
  /** Whether the body was longer than that. */
  truncated: boolean;
};

/** What went wrong, in words for the model, which name no host and no address. The cause is for the log. */
export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly code: EgressErrorCode;

  constructor(code: EgressErrorCode, options?: ErrorOptions) {
    super(MESSAGES[code], options);
    this.code = code;
  }
}

export type EgressErrorCode = keyof typeof MESSAGES;

const MESSAGES = {
  'invalid-url':
    'The address is not one that begins with http:// or https://, or holds a password.',
  'invalid-request': 'The request has a header or a method that cannot be sent.',
  blocked: 'Private and local addresses cannot be called.',
  unreachable: 'The server cannot be reached.',
  timeout: 'The server did not answer in time.',
  'too-many-redirects': 'The server redirected more than 3 times.',
  'broken-answer': "The server's answer broke off or cannot be read.",
};

const MAX_BODY_BYTES = 64 * 1024;
const MAX_REDIRECTS = 3;
const REDIRECTS = [301, 302, 303, 307, 308];
const CONNECT_TIMEOUT_MS = 10_000;

/** What a redirect may carry to another origin. */
const ANONYMOUS_HEADERS = ['accept', 'accept-language', 'content-type', 'user-agent'];
/** What belongs to the connection and its framing: RFC 9110, sections 7.2, 7.6.1 and 8.6. */
const CONNECTION_HEADERS =
  /^(host|connection|content-length|transfer-encoding|keep-alive|te|trailer|upgrade|expect|proxy-.*)$/;

/** IPv4 addresses that are not of the public internet: IANA's registry of special purposes, RFC 6890. */
const PRIVATE_IPV4 = [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24',
  '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4',
  // Public by its number, but every machine's host in Azure.
  '168.63.129.16/32',
];
/** The same of IPv6: protocols with Teredo, documentation, 6to4, 6bone's and local NAT64. */
const PRIVATE_IPV6 = '2001::/23 2001:db8::/32 2002::/16 3fff::/20 64:ff9b:1::/48';
/** All else of IPv6 is private: global unicast (RFC 4291), and NAT64 (RFC 6052) of public IPv4 addresses. */
const GLOBAL_IPV6 = '2000::/3 64:ff9b::/96';

const refused = new BlockList();
const global = new BlockList();
for (const [address, bits] of subnets(PRIVATE_IPV4.join(' '))) {
  refused.addSubnet(address, bits, 'ipv4');
  refused.addSubnet(`64:ff9b::${address}`, 96 + bits, 'ipv6');
}
for (const [address, bits] of subnets(PRIVATE_IPV6)) refused.addSubnet(address, bits, 'ipv6');
for (const [address, bits] of subnets(GLOBAL_IPV6)) global.addSubnet(address, bits, 'ipv6');

function subnets(text: string): [string, number][] {
  return text.split(' ').map((subnet) => {
    const [address = '', bits] = subnet.split('/');
    return [address, Number(bits)];
  });
}

function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !refused.check(address, 'ipv4');
  return global.check(address, 'ipv6') && !refused.check(address, 'ipv6');
}

/** Every address of a host name. */
export type HostLookup = (hostname: string) => Promise<{ address: string; family: number }[]>;

/**
 * @param allowedHosts `host:port`, with a name or an address, of IPv6 in brackets: these targets are open
 *   whatever their address.
 * @param lookup the system's by default. Its answer is checked and then connected to, so that a name which
 *   resolves differently each time reaches nothing either.
 * @throws TypeError for an entry of `allowedHosts` that is none.
 */
export function createEgress({
  allowedHosts,
  lookup = (hostname) => systemLookup(hostname, { all: true }),
}: {
  allowedHosts: string[];
  lookup?: HostLookup;
}): Egress {
  const allowed = new Set(allowedHosts.map(readTarget));
  const agent = new Agent({
    connect: guardConnections(allowed, lookup),
    // The whole exchange has its own limit of time.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  /** Sends a request and follows its redirects, as the Fetch standard does ("HTTP-redirect fetch"). */
  const send = async (request: EgressRequest, signal: AbortSignal): Promise<EgressResponse> => {
    let { method, body } = request;
    let url = readUrl(request.url);
    let headers = readHeaders(request.headers);
    for (let redirects = 0; ; redirects += 1) {
      const response = await agent.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: method as Dispatcher.HttpMethod,
        headers: { ...headers, 'accept-encoding': 'identity' },
        body,
        signal,
      });
      const location = REDIRECTS.includes(response.statusCode) && first(response.headers.location);
      if (!location) return await readResponse(response);
      response.body.on('error', () => {}).destroy();
      if (redirects === MAX_REDIRECTS) throw new EgressError('too-many-redirects');
      const next = readUrl(location, url);
      if (next.origin !== url.origin) headers = only(headers, (n) => ANONYMOUS_HEADERS.includes(n));
      if (response.statusCode === 303 || (response.statusCode < 303 && method === 'POST')) {
        method = 'GET';
        body = undefined;
        headers = only(headers, (name) => !name.startsWith('content-'));
      }
      url = next;
    }
  };

  return {
    async request(request) {
      const { signal, timeout } = request;
      signal.throwIfAborted();
      const exchange = new AbortController();
      const { promise: ended, reject } = Promise.withResolvers<never>();
      const end = (reason: unknown) => {
        exchange.abort(reason);
        reject(reason);
      };
      const abort = () => end(signal.reason);
      signal.addEventListener('abort', abort);
      const timer = setTimeout(() => end(new EgressError('timeout')), timeout);
      try {
        // Raced, for undici notices an abort only once it has connected.
        return await Promise.race([ended, send(request, exchange.signal)]);
      } catch (error) {
        throw exchange.signal.aborted ? exchange.signal.reason : describe(error);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      }
    },
    fetch: undefined as never,
    close: () => agent.destroy(),
  };
}
