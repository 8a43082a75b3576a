import type { FastifyInstance } from 'fastify';
import { shareCall } from '../share-call.ts';
import { VERSION } from '../version.ts';

type Options = {
  /** Readiness checks, by the names that `missing` lists. */
  dependencies: Record<string, () => Promise<void>>;
  /** Whether the process is shutting down. */
  isClosing(): boolean;
};

/** `/healthz` reports that the process is alive, and its version. `/readyz` reports readiness, or which checks failed. */
export async function serveHealth(app: FastifyInstance, { dependencies, isClosing }: Options) {
  const names = Object.keys(dependencies);
  /** Concurrent requests share one probe, so a flood costs the database one query at a time. */
  const findMissing = shareCall(async () => {
    const answers = await Promise.allSettled(Object.values(dependencies).map((ping) => ping()));
    return names.filter((_name, index) => answers[index]?.status === 'rejected');
  });

  app.get('/healthz', { logLevel: 'warn' }, async () => ({
    status: 'ok',
    version: VERSION,
  }));

  app.get('/readyz', { logLevel: 'warn' }, async (_request, reply) => {
    if (isClosing()) return reply.code(503).send({ status: 'closing', missing: [] });
    const missing = await findMissing();
    if (missing.length > 0) return reply.code(503).send({ status: 'unavailable', missing });
    return { status: 'ready' };
  });
}
