import type { FastifyInstance, FastifyRequest } from 'fastify';

/** The origin rules for pages that call GraphQL. */
export type Origins = {
  /** Enables CORS, with preflight requests, for the allowed origins on a plugin's path. */
  openTo(app: FastifyInstance, path: string): void;
  /** Whether a request may open a WebSocket: it has no `Origin`, or one of this host, or an allowed one. */
  mayConnect(request: FastifyRequest): boolean;
};

const METHODS = 'GET, POST, PUT, DELETE';
/** The request headers that GraphQL clients send, including those of SSE. */
const REQUEST_HEADERS =
  'Authorization, Content-Type, Accept, X-Request-Id, Traceparent, X-GraphQL-Event-Stream-Token';
/** The response headers that a page may read. */
const RESPONSE_HEADERS =
  'X-Request-Id, X-Run-Id, Idempotency-Replayed, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After';
/** Chromium's maximum for caching a preflight response. */
const MAX_AGE_S = 7_200;

/**
 * Without allowed origins, no endpoint sends CORS headers. Credentials are never allowed, because Parley uses no cookies.
 *
 * @param allowed origins as browsers write them.
 */
export function createOrigins(allowed: readonly string[]): Origins {
  const isAllowed = (origin: string | undefined): origin is string =>
    origin !== undefined && allowed.includes(origin);

  return {
    openTo(app, path) {
      if (allowed.length === 0) return;
      app.addHook('onRequest', async ({ headers: { origin } }, reply) => {
        reply.header('vary', 'Origin');
        if (!isAllowed(origin)) return;
        reply.header('access-control-allow-origin', origin);
        reply.header('access-control-expose-headers', RESPONSE_HEADERS);
      });
      app.options(path, { config: { emptyBody: true } }, async ({ headers: { origin } }, reply) => {
        reply.code(204);
        if (!isAllowed(origin)) return;
        reply.header('access-control-allow-methods', METHODS);
        reply.header('access-control-allow-headers', REQUEST_HEADERS);
        reply.header('access-control-max-age', MAX_AGE_S);
      });
    },

    mayConnect({ headers: { origin }, host }) {
      if (origin === undefined || isAllowed(origin)) return true;
      return URL.canParse(origin) && new URL(origin).host === host;
    },
  };
}
