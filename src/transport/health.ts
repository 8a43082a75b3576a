import type { FastifyInstance } from 'fastify';
import packageJson from '../../package.json' with { type: 'json' };

type Options = {
  /** Checks that must pass before this process may get requests, by the name that `missing` shows. */
  dependencies: Record<string, () => Promise<void>>;
  /** Whether the process is shutting down. */
  isClosing(): boolean;
};

/** `/healthz`: the process is alive, and its version. `/readyz`: it may get requests, or what is missing. */
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

  app.get('/healthz', { logLevel: 'warn' }, async () => ({
    status: 'ok',
    version: packageJson.version,
  }));

  app.get('/readyz', { logLevel: 'warn' }, async (_request, reply) => {
    if (isClosing()) return reply.code(503).send({ status: 'closing', missing: [] });
    const missing = await findMissing();
    if (missing.length > 0) return reply.code(503).send({ status: 'unavailable', missing });
    return { status: 'ready' };
  });
}
