import { z } from 'zod';
import { type ErrorCode, readErrorCode } from '../errors.ts';
import type { Prisma, Run } from '../generated/prisma/client.ts';
import { isJsonObject } from '../json.ts';
import type { EndEvent, RunEvent } from './events.ts';

/**
 * The events of a run as its row stores them. A `TextDelta` of the last attempt is the offset in `response` at which it
 * ends; deltas of earlier attempts are stored in full, because `response` does not contain them. The terminal event is
 * not stored: the row's other columns hold it.
 */
export type EventRecord = { response: string; events: Prisma.InputJsonValue[] };

/** Encodes the events of a run, without a terminal event. */
export function recordEvents(events: readonly RunEvent[]): EventRecord {
  let response = '';
  const beginning = events.findLastIndex(({ type }) => type === 'RunStarted');
  const recorded = events.map((event, index) => {
    if (event.type === 'TextDelta' && index > beginning) {
      response += event.delta;
      return response.length;
    }
    const { seq: _, ...rest } = event;
    return rest;
  });
  return { response, events: recorded };
}

/** The columns that `readEvents` needs. */
export const EVENT_COLUMNS = {
  id: true,
  sessionId: true,
  status: true,
  startedAt: true,
  response: true,
  output: true,
  events: true,
  errorCode: true,
  errorMessage: true,
  latencyMs: true,
  promptTokens: true,
  completionTokens: true,
  toolsCalled: true,
} satisfies Prisma.RunSelect;

export type EventRow = Pick<Run, keyof typeof EVENT_COLUMNS>;

const recordedEvents = z.array(
  z.union([
    z.int(),
    z.object({
      type: z.literal('RunStarted'),
      runId: z.string(),
      sessionId: z.string().nullable(),
    }),
    z.object({ type: z.literal('TextDelta'), delta: z.string() }),
    z.object({ type: z.literal('ToolStarted'), name: z.string(), callId: z.string() }),
    z.object({
      type: z.literal('ToolFinished'),
      name: z.string(),
      callId: z.string(),
      failed: z.boolean(),
      durationMs: z.int(),
    }),
  ]),
);

/**
 * Decodes a run's stored events, and its terminal event if the run is finished. A run whose text was erased has only
 * `RunStarted` and its terminal event. A run that never started has no `RunStarted`.
 */
export function readEvents(row: EventRow): { events: RunEvent[]; end: EndEvent | undefined } {
  const text = row.response ?? '';
  const begin = { type: 'RunStarted' as const, runId: row.id, sessionId: row.sessionId };
  const known = row.startedAt ? [begin] : [];
  let position = 0;
  const events = recordedEvents.parse(row.events ?? known).map((event, index): RunEvent => {
    const seq = index + 1;
    if (typeof event !== 'number') return { seq, ...event };
    const delta = text.slice(position, event);
    position = event;
    return { seq, type: 'TextDelta', delta };
  });
  return { events, end: endOf(row, events.length + 1) };
}

function endOf(row: EventRow, seq: number): EndEvent | undefined {
  const { id: runId, status, promptTokens, completionTokens, toolsCalled } = row;
  const latencyMs = row.latencyMs ?? 0;
  const tokensUsed = promptTokens + completionTokens;
  switch (status) {
    case 'QUEUED':
    case 'RUNNING':
      return undefined;
    case 'COMPLETED': {
      const output = isJsonObject(row.output) ? { output: row.output } : {};
      return { seq, type: 'ChatDone', runId, latencyMs, tokensUsed, toolsCalled, ...output };
    }
    case 'CANCELLED':
      return { seq, type: 'ChatCancelled', runId, latencyMs, tokensUsed };
    case 'FAILED': {
      const code: ErrorCode = readErrorCode(row.errorCode ?? '');
      const message = row.errorMessage ?? 'The run failed.';
      return { seq, type: 'ChatFailed', runId, latencyMs, code, message };
    }
  }
}
