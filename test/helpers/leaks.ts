import { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

// It says once that it is experimental: not in the midst of a test.
queryObjects(Map, { format: 'count' });

const timer = setTimeout(() => {});
clearTimeout(timer);
const Timeout = timer.constructor;

/** What may be left behind, of whose kind all objects can be counted: each takes the best part of a second. */
const KINDS = {
  timers: Timeout,
  signals: AbortSignal,
  sockets: Socket,
  answers: ServerResponse,
  sets: Set,
};

type Kind = keyof typeof KINDS;

/** What a process has: those objects, the timers that keep it alive, and bytes. */
export type Belongings<Counted extends Kind> = Record<
  Counted | 'activeTimers' | 'heapBytes',
  number
>;

/** Counts what is left once everything has been collected that can be; all kinds by default. */
export async function belongings<Counted extends Kind = Kind>(
  kinds = Object.keys(KINDS) as Counted[],
): Promise<Belongings<Counted>> {
  // What is held weakly goes in rounds: the end of one thing lets go of the next.
  for (let round = 0; round < 5; round += 1) {
    collect();
    await setImmediate();
  }
  const counts = kinds.map((kind) => [kind, queryObjects(KINDS[kind], { format: 'count' })]);
  return {
    ...(Object.fromEntries(counts) as Record<Counted, number>),
    activeTimers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
    heapBytes: process.memoryUsage().heapUsed,
  };
}
