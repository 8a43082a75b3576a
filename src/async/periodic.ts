/** A task that repeats. Its disposal stops it and waits for the run in progress. */
export type PeriodicTask = AsyncDisposable & {
  /** Starts the current interval again: the next run is a whole interval away. */
  restart(): void;
  /** Starts the interval if it has stopped because there was no work: the next run is a whole interval away. */
  resume(): void;
};

type Options = {
  everyMs: number;
  /** Whether the first run starts at once, not after an interval. */
  isImmediate?: boolean;
  /**
   * Whether there is work. An interval that ends without work is the last one until `resume`, so that a process without
   * work does not wake up for the task. Always by default.
   */
  hasWork?: () => boolean;
} & (Reporting | NeverFails);

/** How a failed run is logged. */
type Reporting = {
  log: { error(fields: object, message: string): void };
  /** A noun phrase for the task: the subject of the log message. */
  what: string;
  /** Further fields of the log line. */
  fields?: object;
};

/** The task never throws and never rejects. */
type NeverFails = { log?: undefined };

/**
 * Runs a task at intervals. Its runs never overlap: it skips an interval that ends during a run. A failed run is logged,
 * and the next one follows as usual. The interval does not keep the process alive.
 *
 * @param run receives a signal that aborts when the task is stopped during this run.
 */
export function startPeriodic(
  run: (signal: AbortSignal) => unknown,
  { everyMs, isImmediate = false, hasWork = () => true, ...reporting }: Options,
): PeriodicTask {
  let running: { stopped: AbortController; done: Promise<void> } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isDisposed = false;

  const attempt = async (stopped: AbortSignal) => {
    try {
      await run(stopped);
    } catch (err) {
      if (!reporting.log) throw err;
      const { log, what, fields } = reporting;
      log.error({ ...fields, err }, `${what} failed. It will be retried.`);
    }
  };
  const tick = () => {
    if (running) return;
    if (!hasWork()) return pause();
    const stopped = new AbortController();
    const done = attempt(stopped.signal).finally(() => {
      running = undefined;
    });
    running = { stopped, done };
  };

  const pause = () => {
    clearInterval(timer);
    timer = undefined;
  };
  const resume = () => {
    if (!isDisposed) timer ??= setInterval(tick, everyMs).unref();
  };

  if (hasWork()) resume();
  if (isImmediate) tick();
  return {
    restart: () => void timer?.refresh(),
    resume,
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      pause();
      // Most tasks of a chat end before their first run. An abort without one would only create an error.
      running?.stopped.abort();
      await running?.done;
    },
  };
}
