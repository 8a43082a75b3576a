/** A place at the head of a queue. Dispose it to let the next caller in. */
export type Head = Disposable;

/** Queues callers by name. Resolves when all earlier callers with the same name have left, in call order. */
export type KeyedQueue = (name: string) => Promise<Head>;

export function createKeyedQueue(): KeyedQueue {
  const last = new Map<string, Promise<void>>();
  return async (name) => {
    const earlier = last.get(name);
    const left = Promise.withResolvers<void>();
    last.set(name, left.promise);
    await earlier;
    return {
      [Symbol.dispose]() {
        if (last.get(name) === left.promise) last.delete(name);
        left.resolve();
      },
    };
  };
}
