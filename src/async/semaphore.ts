import { untilAborted } from './deadline.ts';

/** Gives a permit back. Further calls do nothing. Its disposal is the same. */
export type Release = (() => void) & Disposable;

/** Limits concurrent work by name. All callers of a name give the same limit. */
export type Semaphore = {
  /** @returns `undefined` if `max` permits of the name are taken. */
  tryAcquire(name: string, max: number): Release | undefined;
  /**
   * Waits for a permit behind the earlier callers of the name. With a limit of 1, callers run one after the other.
   *
   * @param signal ends the wait. @throws its reason as soon as it aborts.
   */
  acquire(name: string, max: number, signal?: AbortSignal): Promise<Release>;
};

type Permits = { taken: number; waiting: Set<() => void> };

export function createSemaphore(): Semaphore {
  const names = new Map<string, Permits>();

  /** A permit that is given back goes to the first caller that waits. */
  const giveBack = (name: string) => {
    const permits = permitsOf(name);
    const [next] = permits.waiting;
    permits.taken -= 1;
    if (next) {
      permits.waiting.delete(next);
      permits.taken += 1;
      next();
    } else if (permits.taken === 0) names.delete(name);
  };

  const permitsOf = (name: string): Permits => {
    const permits = names.get(name) ?? { taken: 0, waiting: new Set() };
    names.set(name, permits);
    return permits;
  };

  const releaseOf = (name: string): Release => {
    let isTaken = true;
    const release = () => {
      if (isTaken) giveBack(name);
      isTaken = false;
    };
    return Object.assign(release, { [Symbol.dispose]: release });
  };

  const tryAcquire: Semaphore['tryAcquire'] = (name, max) => {
    const permits = permitsOf(name);
    if (permits.taken >= max) return undefined;
    permits.taken += 1;
    return releaseOf(name);
  };

  return {
    tryAcquire,

    async acquire(name, max, signal) {
      signal?.throwIfAborted();
      const free = tryAcquire(name, max);
      if (free) return free;
      const { waiting } = permitsOf(name);
      const { promise: isNext, resolve } = Promise.withResolvers<void>();
      waiting.add(resolve);
      try {
        await (signal ? untilAborted(isNext, signal) : isNext);
      } catch (error) {
        // The permit may have been given in the same moment.
        if (!waiting.delete(resolve)) giveBack(name);
        throw error;
      }
      return releaseOf(name);
    },
  };
}
