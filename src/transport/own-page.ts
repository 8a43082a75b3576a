import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../errors/errors.ts';
import { readCookie, type SessionCookie } from './console-cookie.ts';

/**
 * The credential of a GraphQL request: its `Authorization` header, else the cookie of a console session. The cookie
 * counts only on `/graphql*`, and only if the console itself sends the request, so that no other site's page can use it.
 */
export function credentialOf(request: FastifyRequest): string | SessionCookie | undefined {
  const { authorization } = request.headers;
  if (authorization !== undefined || !isGraphQL(request)) return authorization;
  const isOwn = request.ws ? hasOwnOrigin(request) : isFromConsole(request);
  return isOwn ? readCookie(request) : undefined;
}

/** Whether a request is for GraphQL, over any transport. */
export function isGraphQL({ routeOptions }: FastifyRequest): boolean {
  return /^\/graphql(\/|$)/.test(routeOptions.url ?? '');
}

/** Rejects a request that another page than the console may have sent. @throws GatewayError `invalid_request` */
export function assertFromConsole(request: FastifyRequest): void {
  if (isFromConsole(request)) return;
  const message =
    "Only the console's own pages may send this request. Behind a proxy, set TRUST_PROXY or PUBLIC_URL.";
  throw new GatewayError('invalid_request', message);
}

/** A browser adds `Origin` or `Sec-Fetch-Site` itself. A page of another site cannot add the header without CORS. */
function isFromConsole(request: FastifyRequest): boolean {
  const { origin, 'sec-fetch-site': site, 'x-parley-console': header } = request.headers;
  return (
    header === '1' &&
    (origin !== undefined || site !== undefined) &&
    (origin === undefined || hasOwnOrigin(request)) &&
    (site === undefined || site === 'same-origin')
  );
}

/**
 * Whether a request comes from a page of this server: its `Origin` has exactly the scheme, the host and the port of the
 * request, or of `PUBLIC_URL`. A trusted proxy reports the client's scheme and host in `X-Forwarded-Proto` and
 * `X-Forwarded-Host`.
 */
export function hasOwnOrigin({ headers, protocol, host, server }: FastifyRequest): boolean {
  const { origin } = headers;
  // Browsers send `null` for a page without an origin, and the URL of an unknown scheme has the origin `null` too.
  if (origin === undefined || origin === 'null') return false;
  return origin === server.publicOrigin || origin === URL.parse(`${protocol}://${host}`)?.origin;
}
