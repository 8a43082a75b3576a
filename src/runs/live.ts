import { GatewayError } from '../errors.ts';
import { createEventLog, type EventLog } from './events.ts';

/** A run at work in this process. */
export type LiveRun = Pick<EventLog, 'read'> & { id: string };

/** The place of a run among those at work, taken before the run begins. */
export type Admission = {
  /** Aborted when the run is to stop: its last reader has left, or the process has no more time. */
  signal: AbortSignal;
  /**
   * Starts the work of the run, which goes on by itself and gives the place back at its end.
   *
   * @param work appends the run's events and never rejects.
   */
  start(id: string, work: (log: EventLog, signal: AbortSignal) => Promise<void>): LiveRun;
  /** Gives the place back where no run has begun. */
  leave(): void;
};

/** The runs at work in this process, those that wait for their turn included. */
export type LiveRuns = {
  /** @throws GatewayError when the process is on its way out. */
  admit(): Admission;
  /**
   * Admits nobody any more, and waits until no run is at work; stops those that still are after `limitMs`, and
   * waits for their end.
   */
  drain(limitMs: number): Promise<void>;
};

export function createLiveRuns(): LiveRuns {
  const live = new Set<AbortController>();
  let draining = false;
  let onEmpty = () => {};

  const leave = (controller: AbortController) => {
    live.delete(controller);
    if (live.size === 0) onEmpty();
  };

  return {
    admit() {
      if (draining) {
        throw new GatewayError('internal_error', 'The server is stopping. Send the request again.');
      }
      const controller = new AbortController();
      const { signal } = controller;
      live.add(controller);
      return {
        signal,
        leave: () => leave(controller),
        start(id, work) {
          const log = createEventLog(() => controller.abort());
          void work(log, signal).finally(() => {
            log.end();
            leave(controller);
          });
          return { id, read: log.read };
        },
      };
    },

    async drain(limitMs) {
      draining = true;
      const timer = setTimeout(() => {
        for (const controller of live) controller.abort();
      }, limitMs);
      const empty = new Promise<void>((resolve) => {
        onEmpty = resolve;
      });
      if (live.size > 0) await empty;
      clearTimeout(timer);
    },
  };
}
