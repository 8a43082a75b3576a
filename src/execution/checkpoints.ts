import type { Log } from '../log.ts';
import { recordEvents } from '../runs/event-codec.ts';
import type { EventLog } from '../runs/events.ts';
import type { BegunRun, Runs } from '../runs/runs.ts';
import type { Trace } from '../runs/trace.ts';

/**
 * Stores what has happened so far in a run at work, now and then: for those who read it elsewhere, and in case that the
 * process dies.
 *
 * @returns ends it, once what is being stored is.
 */
export type KeepCheckpoints = (run: {
  begun: BegunRun;
  events: EventLog;
  trace: Trace;
}) => () => Promise<void>;

/** How far the stored events of a run at work may be behind. */
const CHECKPOINT_MS = 250;
/** The same for a run that takes long to store: it rests so many times as long, not to store all the time. */
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
          log.error({ runId: begun.id, err }, 'A run is not stored yet.');
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
