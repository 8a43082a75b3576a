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
