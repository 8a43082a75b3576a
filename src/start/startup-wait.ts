import { StartupError } from '../errors/errors.ts';
import { verdictOn } from '../errors/outage.ts';
import type { Log } from '../observability/log.ts';
import { retry } from '../storage/retry.ts';
import { createWaitingServer } from '../transport/waiting.ts';

/** What a start waits for: the name in `/readyz`, and the product. */
type Service = { name: 'database' | 'redis'; product: 'PostgreSQL' | 'Redis' };

/** Waits for services at the start. Until its disposal, the port answers `/healthz` and `/readyz`. */
export type StartupWait = AsyncDisposable & {
  /** @throws the error of `open`, at once if it does not pass by itself, such as a wrong password. */
  open<T>(service: Service, open: () => Promise<T>): Promise<T>;
};

const LOG_EVERY_MS = 5_000;

/**
 * @param listen makes the server listen on the app's port; it is called at the first error.
 * @param limitMs for all services together.
 */
export function createStartupWait({
  limitMs,
  listen,
  log,
}: {
  limitMs: number;
  listen(server: ReturnType<typeof createWaitingServer>): Promise<unknown>;
  log: Log;
}): StartupWait {
  const startedAt = performance.now();
  const leftMs = () => startedAt + limitMs - performance.now();
  let current: Service = { name: 'database', product: 'PostgreSQL' };
  const reason = () => `${current.product} cannot be reached.`;
  let server: ReturnType<typeof createWaitingServer> | undefined;
  let loggedAt = Number.NEGATIVE_INFINITY;

  const passes = (error: unknown) =>
    error instanceof StartupError &&
    ['retry', 'reconnect'].includes(verdictOn(error.cause)) &&
    leftMs() > 0;

  const report = (err: unknown) => {
    const now = performance.now();
    if (now - loggedAt < LOG_EVERY_MS) return;
    loggedAt = now;
    log.warn(
      { err },
      `${reason()} The start tries again for ${Math.ceil(leftMs() / 1_000)} seconds.`,
    );
  };

  const attempt = async <T>(open: () => Promise<T>): Promise<T> => {
    try {
      return await open();
    } catch (error) {
      if (passes(error) && !server) {
        server = createWaitingServer(() => ({ name: current.name, reason: reason() }));
        await listen(server);
      }
      throw error;
    }
  };

  return {
    open(service, open) {
      current = service;
      return retry(() => attempt(open), { when: passes, onFailure: report });
    },
    [Symbol.asyncDispose]: async () => server?.close(),
  };
}
