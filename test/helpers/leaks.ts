import { Session } from 'node:inspector/promises';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** What a process has, of all that may be left behind. */
export type Belongings = ReturnType<typeof countKinds> & {
  /** Those that keep the process alive. */
  activeTimers: number;
  heapBytes: number;
};

/** Counts what is left once everything has been collected that can be. */
export async function belongings(): Promise<Belongings> {
  // What is held weakly goes in rounds: the end of one thing lets go of the next.
  for (let round = 0; round < 5; round += 1) {
    collect();
    await setImmediate();
  }
  return {
    activeTimers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
    ...(await countObjects()),
    heapBytes: process.memoryUsage().heapUsed,
  };
}

/** Walks the heap once for all kinds: each walk takes about a second, far longer than the counting. */
async function countObjects(): Promise<ReturnType<typeof countKinds>> {
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

/** Runs as a text in the debugger's place, so it knows nothing from outside itself. */
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
