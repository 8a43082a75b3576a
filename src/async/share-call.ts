import { untilAborted } from './deadline.ts';

/** Concurrent callers share one running call and its result. A caller after its end starts the next one. */
export function shareCall<Result>(call: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () => {
    running ??= call().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** Calls that concurrent callers share by a key. */
export type SharedCalls<Result> = {
  /**
   * Joins the running call of a key, or starts one.
   *
   * @param call gets a signal that is aborted when all of its callers have left.
   * @param signal ends this caller's wait.
   * @throws the reason of `signal` as soon as it aborts.
   */
  join(
    key: string,
    call: (signal: AbortSignal) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result>;
};

type Shared<Result> = { result: Promise<Result>; callers: number; abandoned: AbortController };

/** Shares calls by a key. Unlike a call of `shareCall`, a call ends when nobody waits for it. */
export function createSharedCalls<Result>(): SharedCalls<Result> {
  const running = new Map<string, Shared<Result>>();
  return {
    async join(key, call, signal) {
      signal.throwIfAborted();
      let shared = running.get(key);
      if (!shared) {
        const abandoned = new AbortController();
        shared = { result: call(abandoned.signal), callers: 0, abandoned };
        running.set(key, shared);
      }
      shared.callers += 1;
      try {
        return await untilAborted(shared.result, signal);
      } finally {
        shared.callers -= 1;
        if (shared.callers === 0) {
          running.delete(key);
          shared.abandoned.abort();
        }
      }
    },
  };
}
