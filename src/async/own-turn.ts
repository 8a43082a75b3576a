import { setImmediate } from 'node:timers/promises';

let last = Promise.resolve();

/**
 * Waits for a turn of the event loop that no other caller gets. Pieces of work that take tens of milliseconds each, and
 * that arrive together, then do not add up to one long stall: other work of the process is done between them.
 */
export function ownTurn(): Promise<void> {
  last = last.then(() => setImmediate());
  return last;
}
