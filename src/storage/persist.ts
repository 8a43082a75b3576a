import { setTimeout } from 'node:timers/promises';
import type { Log } from '../log.ts';

const TRY_AGAIN_MS = 1_000;
const MAX_TRIES = 600;

/**
 * Does a piece of work that must not be lost to a passing outage. Settles after the first try; where that fails,
 * goes on trying in the background, each second for ten minutes. It never rejects: the log has what could not be
 * done.
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
    let err: unknown;
    for (let tries = 2; tries <= MAX_TRIES; tries += 1) {
      await setTimeout(TRY_AGAIN_MS, undefined, { ref: false });
      err = await attempt();
      if (err === undefined) return;
    }
    log.error({ err }, `${what} could not be stored.`);
  };

  const err = await attempt();
  if (err === undefined) return;
  log.error({ err }, `${what} could not be stored yet.`);
  void goOn();
}
