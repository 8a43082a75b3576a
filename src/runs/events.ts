import type { ErrorCode } from '../errors.ts';

/**
 * What happens in a run, in order: `RunStarted`, any number of deltas and calls of tools, and one of the three ends. The names
 * are those of the GraphQL union `ChatEvent`.
 */
export type RunEvent = { seq: number } & (
  | { type: 'RunStarted'; runId: string; sessionId: string | null }
  | { type: 'TextDelta'; delta: string }
  | { type: 'ToolStarted'; name: string; callId: string }
  | { type: 'ToolFinished'; name: string; callId: string; failed: boolean; durationMs: number }
  | {
      type: 'ChatDone';
      runId: string;
      latencyMs: number;
      tokensUsed: number;
      toolsCalled: string[];
    }
  | { type: 'ChatFailed'; runId: string; latencyMs: number; code: ErrorCode; message: string }
  | { type: 'ChatCancelled'; runId: string; latencyMs: number; tokensUsed: number }
);

type Unnumbered<Event> = Event extends RunEvent ? Omit<Event, 'seq'> : never;

/** The events of one run: written by the run, read by everybody who listens, each at their own pace. */
export type EventLog = {
  /** Adds an event under the next `seq`, counted from 1 without gaps. */
  append(event: Unnumbered<RunEvent>): void;
  /** Says that no event follows. */
  end(): void;
  /**
   * Reads all events from the first, then follows until the log ends, the reader leaves, or the signal says
   * that it has left. Leaving answers at once, also while the next event is awaited.
   */
  read(signal: AbortSignal): AsyncIterableIterator<RunEvent, undefined>;
};

/** @param onAbandoned called when the last reader leaves before the log has ended. */
export function createEventLog(onAbandoned: () => void): EventLog {
  const events: RunEvent[] = [];
  const readers = new Set<() => void>();
  let ended = false;

  const wakeReaders = () => {
    for (const wake of readers) wake();
  };

  return {
    append(event) {
      events.push({ seq: events.length + 1, ...event });
      wakeReaders();
    },

    end() {
      ended = true;
      wakeReaders();
    },

    read(signal) {
      const done = { done: true, value: undefined } as const;
      let position = 0;
      let left = false;
      let wake = () => {};
      const onEvent = () => wake();

      const leave = () => {
        if (left) return;
        left = true;
        readers.delete(onEvent);
        signal.removeEventListener('abort', leave);
        wake();
        if (!ended && readers.size === 0) onAbandoned();
      };

      readers.add(onEvent);
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave);

      return {
        async next() {
          while (!left) {
            const event = events[position];
            if (event) {
              position += 1;
              return { done: false, value: event };
            }
            if (ended) leave();
            else await new Promise<void>((resolve) => (wake = resolve));
          }
          return done;
        },
        async return() {
          leave();
          return done;
        },
        [Symbol.asyncIterator]() {
          return this;
        },
      };
    },
  };
}
