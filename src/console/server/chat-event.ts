import type { StreamEvent } from '../../client/run-source.ts';

type ToolFinished = Extract<StreamEvent, { type: 'tool_finished' }>;

/** An event of a run, by GraphQL or REST. The schema's events have times, and its last one has the tokens. */
export type ChatEvent = (
  | Exclude<StreamEvent, ToolFinished>
  // A reply that arrives whole has tools without durations.
  | (Omit<ToolFinished, 'durationMs'> & { durationMs?: number })
) & { at?: string | null; tokensUsed?: number };

/** The last event of a run. */
export type ChatEnd = Extract<ChatEvent, { type: 'done' }>;
