import { withinTime } from '../async/deadline.ts';
import type { Log } from '../observability/log.ts';
import { SETTLED_AFTER_MS } from './database.ts';
import { retry } from './retry.ts';

/** How long the caller waits for the first attempt. */
const FIRST_ATTEMPT_MS = 500;

/**
 * Runs work that must not be lost in an outage. Resolves after the first attempt or 500 ms. If the first attempt fails,
 * logs the error and retries in the background while the process lives. Never rejects.
 *
 * @param what a noun phrase for the work; the subject of the log message.
 */
export async function persist(
  work: () => PromiseLike<unknown>,
  { log, what }: { log: Log; what: string },
): Promise<void> {
  const attempted = Promise.withResolvers<void>();
  const onFailure = (err: unknown, attempt: number) => {
    if (attempt > 1) return;
    log.error({ err }, `${what} could not be stored. It will be retried.`);
    attempted.resolve();
  };
  const options = { when: () => true, onFailure, isBackground: true };
  void retry(work, options).then(() => attempted.resolve());
  await withinTime(FIRST_ATTEMPT_MS, attempted.promise).catch(() => {});
}

/**
 * Waits for a write. If it fails, its outcome is unknown, so compensates it: now, and again after `SETTLED_AFTER_MS`,
 * because a stalled database or network may execute the write after the first compensation. Retries as `persist` does.
 *
 * @param compensate undoes the write, if it was committed. Must be safe to repeat.
 * @throws the error of the write.
 */
export async function compensateOnUnknown<T>(
  write: PromiseLike<T>,
  compensate: () => PromiseLike<unknown>,
  options: { log: Log; what: string },
): Promise<T> {
  try {
    return await write;
  } catch (error) {
    const compensateAgain = () => void persist(compensate, options);
    await persist(async () => {
      await compensate();
      setTimeout(compensateAgain, SETTLED_AFTER_MS).unref();
    }, options);
    throw error;
  }
}
