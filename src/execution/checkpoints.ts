import { startPeriodic } from '../async/periodic.ts';
import type { Log } from '../observability/log.ts';
import type { Runs } from '../runs/life/runs.ts';
import type { BegunRun } from '../runs/record/begun-run.ts';
import { recordEvents } from '../runs/record/event-codec.ts';
import type { EventLog } from '../runs/record/events.ts';
import type { Trace } from '../runs/trace/trace.ts';

/** The checkpoints of one run. Their disposal waits for a write in progress. */
export type Checkpoints = AsyncDisposable & {
  /** Whether a checkpoint may have been stored. */
  readonly hasProgress: boolean;
};

/**
 * Appends a running run's events and spans to its stored progress at intervals, so that other processes can stream them
 * and a crash loses little. The interval grows with the answer, from 250 ms to 1 second. One timer serves all runs of the
 * process, and runs that are due at the same time share a statement.
 */
export type KeepCheckpoints = (run: {
  begun: BegunRun;
  /** In milliseconds since 1970. */
  createdAt: number;
  events: EventLog;
  trace: Pick<Trace, 'interrupted' | 'changes'>;
}) => Checkpoints;

/** The time between two looks for runs whose checkpoint is due. */
const TICK_MS = 125;
/** The shortest and the longest time between two checkpoints of a run. */
const CHECKPOINT_MS = 250;
const MAX_CHECKPOINT_MS = 1_000;
/** How much an event of the run lengthens that time. */
const MS_PER_EVENT = 5;
/** The pause after a checkpoint, as a multiple of the duration of its write. Limits the load of slow writes. */
const CHECKPOINT_REST = 4;

export function createCheckpoints({
  runs,
  keepsToolTexts,
  log,
}: {
  runs: Pick<Runs, 'progress'>;
  /** Whether arguments and results of tool calls are stored. */
  keepsToolTexts: boolean;
  log: Log;
}): KeepCheckpoints {
  /** Stores what is new of each active run, if that is due. */
  const active = new Set<() => void>();
  const tick = () => {
    for (const store of active) store();
  };
  const ticker = startPeriodic(tick, { everyMs: TICK_MS, hasWork: () => active.size > 0 });

  return ({ begun, createdAt, events: { events }, trace }) => {
    /** How many events are stored, or were in the log before this attempt. */
    let stored = events.findLastIndex(({ type }) => type === 'RunStarted');
    let storedChanges = 0;
    let dueAt = performance.now() + CHECKPOINT_MS;
    let writing: Promise<void> | undefined;
    let hasProgress = false;

    const write = async () => {
      const startedAt = performance.now();
      const [length, changes] = [events.length, trace.changes()];
      hasProgress = true;
      try {
        await runs.progress(begun, {
          fromSeq: stored + 1,
          ...recordEvents(events.slice(stored), createdAt, { keepsToolTexts }),
          spans: changes === storedChanges ? undefined : trace.interrupted(),
        });
        [stored, storedChanges] = [length, changes];
      } catch (err) {
        log.error({ runId: begun.id, err }, 'Run checkpoint failed. It will be retried.');
      }
      const tookMs = performance.now() - startedAt;
      const everyMs = Math.min(CHECKPOINT_MS + length * MS_PER_EVENT, MAX_CHECKPOINT_MS);
      dueAt = startedAt + Math.max(everyMs, tookMs * (1 + CHECKPOINT_REST));
      writing = undefined;
    };

    const store = () => {
      if (writing || events.length === stored || performance.now() < dueAt - TICK_MS / 2) return;
      writing = write();
    };

    active.add(store);
    ticker.resume();
    return {
      get hasProgress() {
        return hasProgress;
      },
      async [Symbol.asyncDispose]() {
        active.delete(store);
        await writing;
      },
    };
  };
}
