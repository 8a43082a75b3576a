import type { Log } from '../log.ts';
import { recordEvents } from '../runs/event-codec.ts';
import type { EventLog } from '../runs/events.ts';
import type { BegunRun, Runs } from '../runs/runs.ts';
import type { Trace } from '../runs/trace.ts';

/**
 * Stores a running run's events and spans at intervals, so that other processes can stream them and a crash loses
 * little.
 *
 * @returns a function that stops the timer and waits for a write in progress.
 */
export type KeepCheckpoints = (run: {
  begun: BegunRun;
  events: EventLog;
  trace: Trace;
}) => () => Promise<void>;

/** The longest delay between an event and its checkpoint. */
const CHECKPOINT_MS = 250;
/** The pause after a checkpoint, as a multiple of the duration of its write. Limits the load of slow writes. */
const CHECKPOINT_REST = 4;

export function createCheckpoints({
  runs,
  log,
}: {
  runs: Pick<Runs, 'checkpoint'>;
  log: Log;
}): KeepCheckpoints {
  return ({ begun, events, trace }) => {
    let stored = 0;
    let storing: Promise<void> | undefined;
    let restUntil = 0;
    const timer = setInterval(() => {
      const startedAt = performance.now();
      if (storing || events.events.length === stored || startedAt < restUntil) return;
      stored = events.events.length;
      storing = runs
        .checkpoint(begun, { ...recordEvents(events.events), spans: trace.interrupted() })
        .catch((err: unknown) => {
          stored = 0;
          log.error({ runId: begun.id, err }, 'Run checkpoint failed. It will be retried.');
        })
        .finally(() => {
          const endedAt = performance.now();
          restUntil = endedAt + (endedAt - startedAt) * CHECKPOINT_REST;
          storing = undefined;
        });
    }, CHECKPOINT_MS);
    return async () => {
      clearInterval(timer);
      await storing;
    };
  };
}
