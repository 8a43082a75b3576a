import { Session } from 'node:inspector/promises';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** Counts of a process's objects that may leak. */
export type ObjectCounts = ReturnType<typeof countKinds> & {
  /** Timers that keep the process alive. */
  activeTimers: number;
  heapBytes: number;
};

/** The bytes of the heap that remain after garbage collection. */
export async function heapBytes(): Promise<number> {
  // Weakly held objects need several rounds: one collection frees the holder of the next.
  for (let round = 0; round < 5; round += 1) {
    collect();
    await setImmediate();
  }
  return process.memoryUsage().heapUsed;
}

/** Counts the objects that remain after garbage collection, which takes seconds in a large heap. */
export async function objectCounts(): Promise<ObjectCounts> {
  await heapBytes();
  return {
    activeTimers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
    ...(await countHeapObjects()),
    heapBytes: process.memoryUsage().heapUsed,
  };
}

/**
 * Waits until the process has fewer additional objects than these limits. Objects of closed connections remain
 * until the server notices the close, which takes longer on a busy machine.
 */
export async function expectNoLeak(
  before: ObjectCounts,
  limits: Partial<ObjectCounts>,
): Promise<void> {
  const excess = async () => {
    const now = await objectCounts();
    return KINDS.flatMap((kind) => {
      const added = now[kind] - before[kind];
      return added < (limits[kind] ?? Number.POSITIVE_INFINITY) ? [] : [`${added} ${kind}`];
    });
  };
  await expect.poll(excess, { interval: 500 }).toEqual([]);
}

const KINDS = [
  'activeTimers',
  'timers',
  'signals',
  'sockets',
  'answers',
  'sets',
  'heapBytes',
] as const;

/** Walks the heap once for all kinds of objects, because each walk takes about a second. */
async function countHeapObjects(): Promise<ReturnType<typeof countKinds>> {
  const session = new Session();
  session.connect();
  try {
    const { result } = await session.post('Runtime.evaluate', { expression: 'Object.prototype' });
    const { objects } = await session.post('Runtime.queryObjects', {
      prototypeObjectId: String(result.objectId),
    });
    const counted = await session.post('Runtime.callFunctionOn', {
      functionDeclaration: `function () { return (${countKinds})(this); }`,
      objectId: objects.objectId,
      returnByValue: true,
    });
    return counted.result.value;
  } finally {
    session.disconnect();
  }
}

/** Serialized and evaluated by the inspector, so it must not refer to anything outside itself. */
function countKinds(objects: object[]) {
  const timer = setTimeout(() => {});
  clearTimeout(timer);
  const { Socket } = process.getBuiltinModule('node:net');
  const { ServerResponse } = process.getBuiltinModule('node:http');
  const count = (Kind: abstract new (..._: never[]) => object) =>
    objects.filter((object) => object instanceof Kind).length;
  return {
    timers: count(timer.constructor as new () => object),
    signals: count(AbortSignal),
    sockets: count(Socket),
    answers: count(ServerResponse),
    sets: count(Set),
  };
}
