import { atTheEnd } from './at-the-end.ts';

/** Counts the turns of the event loop until the end of the test. @returns a function that returns their number so far. */
export function followTurns(): () => number {
  let turns = 0;
  let next = setImmediate(count);
  function count() {
    turns += 1;
    next = setImmediate(count);
  }
  atTheEnd(() => clearImmediate(next));
  return () => turns;
}
