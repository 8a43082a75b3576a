import type { ErrorCode } from '../errors.ts';

/**
 * What happens in a run, in order: `RunStarted`, any number of deltas and calls of tools, and one of the three ends. The names
 * are those of the GraphQL union `ChatEvent`. Where a run of the queue is begun again, `RunStarted` comes again: what was
 * said before it is no part of the reply.
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

/** The three that end a run. */
export type EndEvent = Extract<RunEvent, { type: 'ChatDone' | 'ChatFailed' | 'ChatCancelled' }>;

export type Unnumbered<Event> = Event extends RunEvent ? Omit<Event, 'seq'> : never;

export type ReadOptions = {
  /** Whether the reader leaves when the database does not answer for 7 seconds: its client sees no pings meanwhile. */
  isImpatient?: boolean;
};

/** The events of one run: written by the run, read by everybody who listens, each at their own pace. */
export type EventLog = {
  /** Adds an event under the next `seq`, counted from 1 without gaps. */
  append(event: Unnumbered<RunEvent>): void;
  /** Says that no event follows. */
  end(): void;
  /** Marks the log as stalled: the end of the run cannot be stored at the moment, and impatient readers leave. */
  stall(): void;
  /**
   * Reads all events behind a `seq`, from the first by default, then follows until the log ends, the reader
   * leaves, or the signal says that it has left. Leaving answers at once, also while the next event is awaited.
   */
  read(
    signal: AbortSignal,
    after?: number,
    options?: ReadOptions,
  ): AsyncIterableIterator<RunEvent, undefined>;
  /** Whether anybody reads. */
  isRead(): boolean;
  /** What has happened so far. */
  events: readonly RunEvent[];
};

/**
 * @param onAbandoned called when the last reader leaves before the log has ended.
 * @param earlier the events that the log goes on behind.
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
              // Who asked from behind the end is told of it.
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
