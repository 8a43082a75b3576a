import cors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { hasOwnOrigin } from '../own-page.ts';

/** The origin rules for pages that call GraphQL. */
export type Origins = {
  /** Enables CORS for the allowed origins on a plugin's routes. Preflight requests need the plugin's own prefix. */
  openTo(app: FastifyInstance): Promise<void>;
  /** Whether a request may open a WebSocket: it has no `Origin`, or one of this host, or an allowed one. */
  mayConnect(request: FastifyRequest): boolean;
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

  return {
    async openTo(app) {
      if (allowed.length === 0) return;
      // A function, because with a list the library sends some CORS headers to other origins too.
      await app.register(cors, { ...CORS, origin: async (origin?: string) => isAllowed(origin) });
    },

    mayConnect(request) {
      const { origin } = request.headers;
      return origin === undefined || isAllowed(origin) || hasOwnOrigin(request);
    },
  };
}
