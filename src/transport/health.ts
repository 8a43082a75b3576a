import type { FastifyInstance } from 'fastify';

type Options = {
  /** What must answer before this process may be sent requests, by the name to show. */
  dependencies: Record<string, () => Promise<void>>;
  /** Whether the process is on its way out. */
  isClosing(): boolean;
};

/** `/healthz`: the process is alive. `/readyz`: it may be sent requests, or what it lacks. */
export async function serveHealth(app: FastifyInstance, { dependencies, isClosing }: Options) {
  const names = Object.keys(dependencies);
  const probe = async () => {
    const answers = await Promise.allSettled(Object.values(dependencies).map((ping) => ping()));
    return names.filter((_name, index) => answers[index]?.status === 'rejected');
  };
  let underWay: Promise<string[]> | undefined;
  /** Concurrent requests share one probe, so that a flood costs the database one query at a time. */
  const findMissing = () => {
    underWay ??= probe().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };

  app.get('/healthz', { logLevel: 'warn' }, async () => ({ status: 'ok' }));

  app.get('/readyz', { logLevel: 'warn' }, async (_request, reply) => {
    if (isClosing()) return reply.code(503).send({ status: 'closing', missing: [] });
    const missing = await findMissing();
    if (missing.length > 0) return reply.code(503).send({ status: 'unavailable', missing });
    return { status: 'ready' };
  });
}
