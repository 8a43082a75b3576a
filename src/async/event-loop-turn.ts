import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds that events may take of one turn of the event loop. */
const TURN_MS = 10;

/** When the events of the current turn began. */
let startedAt: number | undefined;

/**
 * Lets other work run between two events of a stream. Events that are in memory follow each other without a turn of the
 * event loop, so that a long replay, or many subscribers of one change, would stop all other requests.
 *
 * @returns a promise if the events of all streams in this turn have taken more than 10 ms; else nothing to wait for.
 */
export function yieldTurn(): Promise<void> | undefined {
  if (startedAt === undefined) {
    startedAt = performance.now();
    setImmediate(() => {
      startedAt = undefined;
    });
    return undefined;
  }
  return performance.now() - startedAt > TURN_MS ? nextTurn() : undefined;
}
