import Fastify, { type FastifyInstance } from 'fastify';
import { GatewayError } from '../errors/errors.ts';
import { takeBodies } from './bodies.ts';
import { createBodyMemory } from './body-memory.ts';
import { CONNECTION_LIMITS, timeoutsFor } from './connections.ts';
import { serveHealth } from './health.ts';
import { createSocketReads } from './socket-reads.ts';

/**
 * Creates the server that answers in place of the app until the app can start: `/healthz` with 200, `/readyz` with 503. It
 * does not listen yet.
 *
 * @param waitsFor what the start waits for, and the reason that is safe to show.
 */
export function createWaitingServer(
  waitsFor: () => { name: string; reason: string },
): FastifyInstance {
  const { http, ...timeouts } = timeoutsFor(CONNECTION_LIMITS);
  const app = Fastify({ forceCloseConnections: true, http, ...timeouts });
  // No route reads a body.
  app.removeAllContentTypeParsers();
  takeBodies(app, { memory: createBodyMemory(), reads: createSocketReads() });
  app.server.maxConnections = CONNECTION_LIMITS.anonymous;
  const fail = async () => {
    throw new GatewayError('internal_error', waitsFor().reason);
  };
  app.register(serveHealth, {
    dependencies: () => ({ [waitsFor().name]: fail }),
    isClosing: () => false,
  });
  return app;
}
