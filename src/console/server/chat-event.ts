import type { StreamEvent } from '../../client/run-source.ts';
import type { ToolCallStatus } from '../../generated/operations/console.ts';

type ToolStarted = Extract<StreamEvent, { type: 'tool_started' }>;
type ToolFinished = Extract<StreamEvent, { type: 'tool_finished' }>;

/** An event of a run, by GraphQL or REST. The schema's events have times, and its last one has the tokens. */
export type ChatEvent = (
  | Exclude<StreamEvent, ToolStarted | ToolFinished>
  // A key without the scope RUNS gets neither input nor result.
  | (Omit<ToolStarted, 'arguments'> & {
      arguments?: unknown;
      /** What visitors see of the call. Absent over REST. */
      label?: string | null;
    })
  // A reply that arrives whole has tools without durations.
  | (Omit<ToolFinished, 'durationMs' | 'result'> & {
      durationMs?: number;
      result?: string | null;
      /** Absent over REST. */
      status?: ToolCallStatus | null;
    })
) & { at?: string | null; tokensUsed?: number };

/** The last event of a run. */
export type ChatEnd = Extract<ChatEvent, { type: 'done' }>;
