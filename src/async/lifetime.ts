/** Where an app's resources register how they are closed, as they are opened. */
export type Lifetime = {
  /** Registers the closing of a resource. Closings run in reverse order, each after the one before it is done. */
  defer(close: () => unknown): void;
  /**
   * Registers a background task, which starts with the app.
   *
   * @param start starts the task. Disposal of its result stops it, in the same order as the closings.
   * @returns a function that stops the task earlier.
   */
  onStart(start: () => AsyncDisposable): () => Promise<void>;
};

/** A lifetime for the code that ends it. Its disposal closes everything, even if one closing fails. */
export type OwnedLifetime = Lifetime &
  AsyncDisposable & {
    /** Starts the background tasks, in the order of their registration. */
    start(): void;
  };

export function createLifetime(): OwnedLifetime {
  const stack = new AsyncDisposableStack();
  const starts: (() => void)[] = [];
  return {
    defer: (close) =>
      stack.defer(async () => {
        await close();
      }),

    onStart(start) {
      let task: AsyncDisposable | undefined;
      const stop = async () => task?.[Symbol.asyncDispose]();
      starts.push(() => {
        task = start();
      });
      stack.defer(stop);
      return stop;
    },

    start() {
      for (const start of starts) start();
    },

    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
