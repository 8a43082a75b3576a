import type { ErrorCode } from '../../errors/errors.ts';
import type { Run, ToolCallStatus } from '../../generated/prisma/client.ts';
import type { JsonObject } from '../../text/json.ts';

/**
 * The events of a run, in order: `RunStarted`, any number of text deltas and tool events, and one terminal event. The
 * names are the types of the GraphQL union `ChatEvent`. Each attempt at a background run emits its own `RunStarted`: text
 * before the last one is not part of the reply.
 */
export type RunEvent = {
  seq: number;
  /** When the event was emitted, in milliseconds since 1970, by the database's clock. Null if that is not known. */
  at: number | null;
} & (
  | { type: 'RunStarted'; runId: string; sessionId: string | null }
  | { type: 'TextDelta'; delta: string }
  | {
      type: 'ToolStarted';
      name: string;
      /** What the visitors of a chat page see of the call. Undefined: nothing. */
      label?: string | undefined;
      callId: string;
      /** The id of the call's record. Undefined for a run of version 0.2. */
      recordId?: string | undefined;
      /** The text of a JSON object. The record has it, too, once the run has ended. */
      arguments?: string | undefined;
    }
  | {
      type: 'ToolFinished';
      name: string;
      callId: string;
      recordId?: string | undefined;
      /** Undefined for a run of version 0.2. */
      status?: ToolCallStatus | undefined;
      failed: boolean;
      durationMs: number;
      /** What the model got. The record has it, too, once the run has ended. */
      result?: string | undefined;
    }
  | {
      type: 'ChatDone';
      runId: string;
      latencyMs: number;
      tokensUsed: number;
      toolsCalled: string[];
      /** The structured reply, if one was requested. */
      output?: JsonObject | undefined;
      end: ReplyEnd;
    }
  | { type: 'ChatFailed'; runId: string; latencyMs: number; code: ErrorCode; message: string }
  | { type: 'ChatCancelled'; runId: string; latencyMs: number; tokensUsed: number }
);

/** How a completed run ended: what its row stores beside the reply. */
export type ReplyEnd = Pick<
  Run,
  | 'deploymentId'
  | 'finishReason'
  | 'promptTokens'
  | 'completionTokens'
  | 'cachedTokens'
  | 'reasoningTokens'
>;

/** A terminal event. */
export type EndEvent = Extract<RunEvent, { type: 'ChatDone' | 'ChatFailed' | 'ChatCancelled' }>;

/** An event to append. Without `at`, it is emitted now. */
export type Unnumbered<Event> = Event extends RunEvent
  ? Omit<Event, 'seq' | 'at'> & { at?: RunEvent['at'] }
  : never;

export type ReadOptions = {
  /** Whether the read ends when the database does not answer for 7 seconds. For clients that receive no pings. */
  failsFast?: boolean;
};

/** The events of one run. The run appends; any number of readers follow at their own pace. */
export type EventLog = {
  /** Appends an event with the next `seq`, counted from 1 without gaps, and a time not before the time of any other event. */
  append(event: Unnumbered<RunEvent>): void;
  /** Closes the log: no event follows. */
  end(): void;
  /** Marks the log as stalled: the run's outcome cannot be stored now. Ends the reads that fail fast. */
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
 * @param now the time of an event that is emitted, in milliseconds since 1970.
 * @param onAbandoned called when the last reader leaves before the log closes.
 * @param earlier the events that the log starts with.
 */
export function createEventLog(
  now: () => number,
  onAbandoned: () => void,
  earlier: readonly RunEvent[] = [],
): EventLog {
  const events: RunEvent[] = [...earlier];
  const readers = new Set<() => void>();
  let latest = latestOf(earlier);
  let ended = false;
  let stalled = false;

  const wakeReaders = () => {
    for (const wake of readers) wake();
  };

  return {
    events,
    isRead: () => readers.size > 0,

    append({ at = now(), ...event }) {
      if (at !== null) latest = Math.max(at, latest);
      events.push({ ...event, seq: events.length + 1, at: at === null ? null : latest });
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

    read(signal, after = 0, { failsFast = false } = {}) {
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
            if (stalled && failsFast) {
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

/** The time of the latest event, in milliseconds since 1970; 0 if none has a time. */
export function latestOf(events: readonly RunEvent[]): number {
  return events.reduce((latest, { at }) => Math.max(latest, at ?? 0), 0);
}
