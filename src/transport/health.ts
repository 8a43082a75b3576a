import type { FastifyInstance } from 'fastify';
import { shareCall } from '../async/share-call.ts';
import { GatewayError } from '../errors/errors.ts';
import { VERSION } from '../text/version.ts';

type Options = {
  /** The readiness checks, by the names that `missing` lists. */
  dependencies(): Record<string, () => Promise<void>>;
  /** The warnings of a ready process, as fixed sentences; none by default. */
  warnings?(): string[];
  /** Whether the process is shutting down. */
  isClosing(): boolean;
};

/**
 * `/healthz` reports that the process is alive, and its version. `/readyz` reports readiness, or which checks failed,
 * with the reasons that are safe to show. A ready process lists its warnings.
 */
export async function serveHealth(
  app: FastifyInstance,
  { dependencies, warnings, isClosing }: Options,
) {
  /** Concurrent requests share one probe, so a flood costs the database one query at a time. */
  const findMissing = shareCall(async () => {
    const checks = Object.entries(dependencies());
    const answers = await Promise.allSettled(checks.map(([, ping]) => ping()));
    const missing = checks
      .map(([name]) => name)
      .filter((_name, index) => answers[index]?.status === 'rejected');
    const reasons = answers.flatMap((answer) =>
      answer.status === 'rejected' && answer.reason instanceof GatewayError
        ? [answer.reason.message]
        : [],
    );
    return { missing, ...(reasons.length > 0 && { reasons }) };
  });

  app.get('/healthz', { logLevel: 'warn' }, async () => ({
    status: 'ok',
    version: VERSION,
  }));

  app.get('/readyz', { logLevel: 'warn' }, async (_request, reply) => {
    if (isClosing()) return reply.code(503).send({ status: 'closing', missing: [] });
    const state = await findMissing();
    if (state.missing.length > 0) return reply.code(503).send({ status: 'unavailable', ...state });
    const found = warnings?.() ?? [];
    return { status: 'ready', ...(found.length > 0 && { warnings: found }) };
  });
}
