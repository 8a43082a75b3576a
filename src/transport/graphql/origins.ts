import type { FastifyInstance, FastifyRequest } from 'fastify';

/** The origins whose pages may call GraphQL. */
export type Origins = {
  /** Lets pages of the listed origins at what a plugin serves at a path: CORS, with its preflight requests. */
  openTo(app: FastifyInstance, path: string): void;
  /** Whether a WebSocket may be opened: by what is no page, by a page of this very host, or of a listed origin. */
  mayConnect(request: FastifyRequest): boolean;
};

const METHODS = 'GET, POST, PUT, DELETE';
/** What clients of GraphQL send, over SSE too. */
const REQUEST_HEADERS =
  'Authorization, Content-Type, Accept, X-Request-Id, Traceparent, X-GraphQL-Event-Stream-Token';
/** What a page may read of an answer besides its body. */
const RESPONSE_HEADERS =
  'X-Request-Id, X-Run-Id, Idempotency-Replayed, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After';
/** Chromium remembers a preflight for no longer. */
const MAX_AGE_S = 7_200;

/**
 * Without a list no CORS header leaves any endpoint. Cookies are never let through: there are none.
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
