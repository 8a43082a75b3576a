import type { ErrorCode } from '../errors.ts';
import type { JsonObject } from '../json.ts';

/**
 * The events of a run, in order: `RunStarted`, any number of text deltas and tool events, and one terminal event. The
 * names are those of the GraphQL union `ChatEvent`. Each attempt at a background run emits its own `RunStarted`: text
 * before the last one is not part of the reply.
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
      /** The structured reply, if one was requested. */
      output?: JsonObject | undefined;
    }
  | { type: 'ChatFailed'; runId: string; latencyMs: number; code: ErrorCode; message: string }
  | { type: 'ChatCancelled'; runId: string; latencyMs: number; tokensUsed: number }
);

/** A terminal event. */
export type EndEvent = Extract<RunEvent, { type: 'ChatDone' | 'ChatFailed' | 'ChatCancelled' }>;

export type Unnumbered<Event> = Event extends RunEvent ? Omit<Event, 'seq'> : never;

export type ReadOptions = {
  /** Whether the read ends when the database does not answer for 7 seconds. For clients that receive no pings. */
  isImpatient?: boolean;
};

/** The events of one run. The run appends; any number of readers follow at their own pace. */
export type EventLog = {
  /** Appends an event with the next `seq`, counted from 1 without gaps. */
  append(event: Unnumbered<RunEvent>): void;
  /** Closes the log: no event follows. */
  end(): void;
  /** Marks the log as stalled: the run's outcome cannot be stored now. Ends the reads of impatient readers. */
  stall(): void;
  /**
   * Yields all events after a `seq` (default 0), then new ones until the log closes, the reader returns, or the signal
   * aborts. `return()` settles at once, even while `next()` is pending.
   */
  read(
    signal: AbortSignal,
    after?: number,
    options?: ReadOptions,
  ): AsyncIterableIterator<RunEvent, undefined>;
  /** Whether the log has a reader. */
  isRead(): boolean;
  /** All events so far. */
  events: readonly RunEvent[];
};

/**
 * @param onAbandoned called when the last reader leaves before the log closes.
 * @param earlier the events that the log starts with.
 */
export function createEventLog(
  onAbandoned: () => void,
  earlier: readonly RunEvent[] = [],
): EventLog {
  const events: RunEvent[] = [...earlier];
  const readers = new Set<() => void>();
  let ended = false;
  let stalled = false;

  const wakeReaders = () => {
    for (const wake of readers) wake();
  };

  return {
    events,
    isRead: () => readers.size > 0,

    append(event) {
      events.push({ seq: events.length + 1, ...event });
      wakeReaders();
    },

    end() {
      ended = true;
      wakeReaders();
    },

    stall() {
      stalled = true;
      wakeReaders();
    },

    read(signal, after = 0, { isImpatient = false } = {}) {
      const done = { done: true, value: undefined } as const;
      let position = after;
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
            if (stalled && isImpatient) {
              leave();
              return done;
            }
            if (ended) {
              leave();
              // A reader that starts past the end still gets the terminal event.
              const last = position > events.length ? events.at(-1) : undefined;
              return last ? { done: false, value: last } : done;
            }
            await new Promise<void>((resolve) => (wake = resolve));
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
