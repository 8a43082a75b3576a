import type { Log } from '../log.ts';
import { SETTLED_AFTER_MS } from './database.ts';

const TRY_AGAIN_MS = 1_000;
/** So many times; from then on it is an outage that may last. */
const TRIES = 600;
const TRY_LATER_MS = 60_000;

/**
 * Does a piece of work that must not be lost to an outage. Settles after the first try; where that fails, goes on
 * trying in the background for as long as the process lives, each second for ten minutes and then each minute. It never
 * rejects: the log has what could not be done.
 *
 * @param what the work, as the log names it.
 */
export async function persist(
  work: () => PromiseLike<unknown>,
  { log, what }: { log: Log; what: string },
): Promise<void> {
  const attempt = async () => {
    try {
      await work();
      return undefined;
    } catch (error) {
      return error;
    }
  };

  const goOn = async () => {
    for (let tries = 1; ; tries += 1) {
      const pause = tries < TRIES ? TRY_AGAIN_MS : TRY_LATER_MS;
      await new Promise((resolve) => setTimeout(resolve, pause).unref());
      const err = await attempt();
      if (err === undefined) return;
      if (tries >= TRIES) log.error({ err }, `${what} could still not be stored.`);
    }
  };

  const err = await attempt();
  if (err === undefined) return;
  log.error({ err }, `${what} could not be stored yet.`);
  void goOn();
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
