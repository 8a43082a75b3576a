import type { Log } from '../log.ts';
import { SETTLED_AFTER_MS } from './database.ts';
import { retry } from './retry.ts';

/** How long the caller waits for the first try. */
const FIRST_TRY_MS = 500;

/**
 * Does a piece of work that must not be lost to an outage. Settles after the first try, or half a second; where that
 * fails, `retry` goes on in the background for as long as the process lives. It never rejects: the log has what could
 * not be done.
 *
 * @param what the work, as the log names it.
 */
export async function persist(
  work: () => PromiseLike<unknown>,
  { log, what }: { log: Log; what: string },
): Promise<void> {
  const tried = Promise.withResolvers<void>();
  const failed = (err: unknown) => {
    log.error({ err }, `${what} could not be stored yet.`);
    tried.resolve();
  };
  let isFirst = true;
  const when = (err: unknown) => {
    if (isFirst) failed(err);
    isFirst = false;
    return true;
  };
  void retry(work, { when, isBackground: true }).then(() => tried.resolve());
  const timer = setTimeout(tried.resolve, FIRST_TRY_MS);
  await tried.promise;
  clearTimeout(timer);
}

/**
 * Takes back what a statement may have done whose answer was lost, as `persist` does: now, and once more when it can no
 * longer be on its way. A database, or the network, that stood still may do it after it was taken back.
 */
export function undo(work: () => PromiseLike<unknown>, options: { log: Log; what: string }) {
  const again = () => void persist(work, options);
  return persist(async () => {
    await work();
    setTimeout(again, SETTLED_AFTER_MS).unref();
  }, options);
}
