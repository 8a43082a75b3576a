import cors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GatewayError } from '../../errors/errors.ts';
import { hasOwnOrigin } from '../own-page.ts';

/** The origin rules for pages that call GraphQL. */
export type Origins = {
  /**
   * Enables CORS for the allowed origins on a plugin's routes. Preflight requests need the plugin's own prefix.
   *
   * @param more headers besides the headers of GraphQL clients.
   */
  openTo(app: FastifyInstance, more?: { allowed: string[]; exposed: string[] }): Promise<void>;
  /**
   * Refuses a request of a page, unless its `Origin` is of this host or allowed.
   *
   * @throws GatewayError `insufficient_scope`
   */
  assertMayConnect(request: FastifyRequest): void;
  /**
   * As `assertMayConnect`, but over HTTP without TLS the `Origin` may be of this host only if the host is a loopback name: any other
   * name may have been pointed to this server by a page of another site. Source: MCP, "Streamable HTTP", security warning.
   */
  assertNotRebound(request: FastifyRequest): void;
};

const CORS = {
  methods: ['GET', 'POST', 'PUT', 'DELETE'],
  /** The request headers that GraphQL clients send, including the headers of SSE. */
  allowedHeaders: [
    'Authorization',
    'Content-Type',
    'Accept',
    'X-Request-Id',
    'Traceparent',
    'X-GraphQL-Event-Stream-Token',
  ],
  /** The response headers that a page may read. */
  exposedHeaders: [
    'X-Request-Id',
    'X-Run-Id',
    'Idempotency-Replayed',
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    'Retry-After',
  ],
  /** Chromium's maximum for caching a preflight response, in seconds. */
  maxAge: 7_200,
  // The library rejects an incomplete preflight request with plain text, which is not a documented error.
  strictPreflight: false,
};

/**
 * Without allowed origins, no endpoint sends CORS headers. Credentials are never allowed, because the only
 * cookie is the console's, which works for its own origin alone.
 *
 * @param allowed origins as browsers write them.
 */
export function createOrigins(allowed: readonly string[]): Origins {
  const isAllowed = (origin: string | undefined) =>
    origin !== undefined && allowed.includes(origin);

  const mayConnect = (request: FastifyRequest) => {
    const { origin } = request.headers;
    return origin === undefined || isAllowed(origin) || hasOwnOrigin(request);
  };

  return {
    async openTo(app, more) {
      if (allowed.length === 0) return;
      await app.register(cors, {
        ...CORS,
        allowedHeaders: [...CORS.allowedHeaders, ...(more?.allowed ?? [])],
        exposedHeaders: [...CORS.exposedHeaders, ...(more?.exposed ?? [])],
        // A function, because with a list the library sends some CORS headers to other origins too.
        origin: async (origin?: string) => isAllowed(origin),
      });
    },

    assertMayConnect(request) {
      if (!mayConnect(request)) throw refused();
    },

    assertNotRebound(request) {
      const { origin } = request.headers;
      const isKnown = isAllowed(origin) || origin === request.server.publicOrigin;
      if (origin !== undefined && !isKnown && !(hasOwnOrigin(request) && hasSafeName(origin)))
        throw refused();
    },
  };
}

function refused(): GatewayError {
  const message =
    'Pages of this origin may not connect. PARLEY_ALLOWED_ORIGINS does not contain it.';
  return new GatewayError('insufficient_scope', message);
}

/** A rebound name has no certificate of this server. */
function hasSafeName(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
