import { createEventLog, type EventLog } from './events.ts';

/** A run at work in this process. */
export type LiveRun = Pick<EventLog, 'read'> & { id: string };

/** The runs at work in this process. */
export type LiveRuns = {
  /**
   * Starts the work of a run. It goes on by itself; its signal is aborted when the last reader leaves, or
   * when the process has no more time.
   *
   * @param work appends the run's events and never rejects.
   */
  start(id: string, work: (log: EventLog, signal: AbortSignal) => Promise<void>): LiveRun;
  /** Waits until no run is at work; aborts those that still are after `limitMs`, and waits for their end. */
  drain(limitMs: number): Promise<void>;
};

export function createLiveRuns(): LiveRuns {
  const live = new Map<Promise<void>, AbortController>();
  const allEnded = async () => {
    while (live.size > 0) await Promise.all(live.keys());
  };

  return {
    start(id, work) {
      const controller = new AbortController();
      const log = createEventLog(() => controller.abort());
      const ended = work(log, controller.signal).finally(() => {
        log.end();
        live.delete(ended);
      });
      live.set(ended, controller);
      return { id, read: log.read };
    },

    async drain(limitMs) {
      const timer = setTimeout(() => {
        for (const controller of live.values()) controller.abort();
      }, limitMs);
      await allEnded();
      clearTimeout(timer);
    },
  };
}
