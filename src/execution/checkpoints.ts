import { startPeriodic } from '../async/periodic.ts';
import type { Log } from '../observability/log.ts';
import type { BegunRun } from '../runs/life/begin.ts';
import type { Runs } from '../runs/life/runs.ts';
import { recordEvents } from '../runs/record/event-codec.ts';
import type { EventLog } from '../runs/record/events.ts';
import type { Trace } from '../runs/trace/trace.ts';

/**
 * Stores a running run's events and spans at intervals, so that other processes can stream them and a crash loses
 * little. Its disposal waits for a write in progress.
 */
export type KeepCheckpoints = (run: {
  begun: BegunRun;
  /** In milliseconds since 1970. */
  createdAt: number;
  events: EventLog;
  trace: Trace;
}) => AsyncDisposable;

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
  return ({ begun, createdAt, events, trace }) => {
    let stored = 0;
    let restUntil = 0;
    const store = async () => {
      const startedAt = performance.now();
      if (events.events.length === stored || startedAt < restUntil) return;
      const length = events.events.length;
      try {
        await runs.checkpoint(begun, {
          ...recordEvents(events.events, createdAt),
          spans: trace.interrupted(),
        });
        stored = length;
      } finally {
        const endedAt = performance.now();
        restUntil = endedAt + (endedAt - startedAt) * CHECKPOINT_REST;
      }
    };
    return startPeriodic(store, {
      everyMs: CHECKPOINT_MS,
      log,
      what: 'Run checkpoint',
      fields: { runId: begun.id },
    });
  };
}
