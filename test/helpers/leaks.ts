import { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What a process has, of all that may be left behind. */
export type Belongings = {
  /** Those that keep the process alive. */
  activeTimers: number;
  /** All of them. */
  timers: number;
  signals: number;
  sockets: number;
  answers: number;
  heapBytes: number;
};

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

// It says once that it is experimental: not in the midst of a test.
queryObjects(Map, { format: 'count' });

const timer = setTimeout(() => {});
clearTimeout(timer);
const Timeout = timer.constructor;

/** Counts what is left once everything has been collected that can be. */
export async function belongings(): Promise<Belongings> {
  // What is held weakly goes in rounds: the end of one thing lets go of the next.
  for (let round = 0; round < 5; round += 1) {
    collect();
    await setImmediate();
  }
  return {
    activeTimers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
    timers: queryObjects(Timeout, { format: 'count' }),
    signals: queryObjects(AbortSignal, { format: 'count' }),
    sockets: queryObjects(Socket, { format: 'count' }),
    answers: queryObjects(ServerResponse, { format: 'count' }),
    heapBytes: process.memoryUsage().heapUsed,
  };
}
