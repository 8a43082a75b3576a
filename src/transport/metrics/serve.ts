import { hash, timingSafeEqual } from 'node:crypto';
import Fastify, { type FastifyInstance } from 'fastify';
import { rateLimitExceeded } from '../../accounts/limits.ts';
import { GatewayError } from '../../errors/errors.ts';
import { takeBodies } from '../bodies.ts';
import { createBodyMemory } from '../body-memory.ts';
import { CONNECTION_LIMITS, timeoutsFor } from '../connections.ts';
import type { Limiter } from '../rate-limit.ts';
import { createSocketReads } from '../socket-reads.ts';
import type { Metrics } from './metrics.ts';

/** The path that Prometheus reads by default. */
const PATH = '/metrics';

/** Requests that no route answers share one label. */
const NO_ROUTE = 'none';

/** Counts every answer of a server. Call it before the routes are registered. */
export function countResponses(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', async ({ routeOptions, method }, reply) => {
    metrics.requestAnswered(routeOptions.url ?? NO_ROUTE, method, reply.statusCode);
  });
}

/**
 * Serves `/metrics` on the main port to requests with the token. Other requests count against the limit of their
 * address, so the token cannot be guessed.
 */
export async function serveMetrics(
  app: FastifyInstance,
  { metrics, token, limiter }: { metrics: Metrics; token: string; limiter: Limiter },
) {
  const expected = digest(`Bearer ${token}`);
  app.get(PATH, async ({ headers, ip }, reply) => {
    if (!timingSafeEqual(digest(headers.authorization ?? ''), expected)) {
      const refusal = refuse(headers.authorization);
      const quota = await limiter.take(refusal, ip, 1);
      throw quota.allowed ? refusal : rateLimitExceeded(quota);
    }
    return reply.type(metrics.contentType).send(await metrics.render());
  });
}

/** Creates the server of `PARLEY_METRICS_PORT`, which needs no token. It does not listen yet. */
export function createMetricsServer(metrics: Metrics): FastifyInstance {
  const { http, ...timeouts } = timeoutsFor(CONNECTION_LIMITS);
  const app = Fastify({ forceCloseConnections: true, http, ...timeouts });
  // No route reads a body.
  app.removeAllContentTypeParsers();
  takeBodies(app, { memory: createBodyMemory(), reads: createSocketReads() });
  app.get(PATH, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.render()),
  );
  return app;
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

function refuse(authorization: string | undefined): GatewayError {
  return authorization === undefined
    ? new GatewayError('missing_api_key', 'Send the token of PARLEY_METRICS_TOKEN.')
    : new GatewayError('invalid_api_key', 'This is not the token of PARLEY_METRICS_TOKEN.');
}
