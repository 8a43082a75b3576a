import { untilAborted } from '../deadline.ts';

/** A place at the head of a queue. Dispose it to let the next caller in. */
export type Head = Disposable;

/**
 * Queues callers by name. Resolves when all earlier callers with the same name have left, in call order.
 *
 * @param signal ends the wait: the caller leaves the queue, and the promise rejects with the signal's reason.
 */
export type KeyedQueue = (name: string, signal?: AbortSignal) => Promise<Head>;

export function createKeyedQueue(): KeyedQueue {
  const last = new Map<string, Promise<void>>();
  return async (name, signal) => {
    const earlier = last.get(name) ?? Promise.resolve();
    const left = Promise.withResolvers<void>();
    last.set(name, left.promise);
    const leave = () => {
      if (last.get(name) === left.promise) last.delete(name);
      left.resolve();
    };
    try {
      await (signal ? untilAborted(earlier, signal) : earlier);
    } catch (error) {
      // The next caller still waits for the earlier ones.
      void earlier.then(leave);
      throw error;
    }
    return { [Symbol.dispose]: leave };
  };
}
