import { z } from 'zod';
import { type ErrorCode, readErrorCode } from '../../errors/errors.ts';
import { type Prisma, type Run, ToolCallStatus } from '../../generated/prisma/client.ts';
import { isJsonObject } from '../../text/json.ts';
import { type EndEvent, latestOf, type RunEvent } from './events.ts';

/**
 * The events of a run as its row stores them. A `TextDelta` of the last attempt is the offset in `response` at which it
 * ends; deltas of earlier attempts are stored in full, because `response` does not contain them. The terminal event is
 * not stored: the row's other columns hold it. `eventTimes` has the time of each event, in milliseconds since the
 * creation of the run, or `UNKNOWN`.
 */
export type EventRecord = {
  response: string;
  events: Prisma.InputJsonValue[];
  eventTimes: number[];
};

/** The time of an event that an earlier version of Parley stored. */
const UNKNOWN = -1;

/**
 * Encodes the events of a run, without a terminal event.
 *
 * @param createdAt the time of the run's creation, in milliseconds since 1970.
 * @param keepsToolTexts whether arguments and results of tool calls are kept. At the end of a run, only its records of
 *   tool calls have them.
 */
export function recordEvents(
  events: readonly RunEvent[],
  createdAt: number,
  { keepsToolTexts = false } = {},
): EventRecord {
  let response = '';
  const beginning = events.findLastIndex(({ type }) => type === 'RunStarted');
  const recorded = events.map((event, index) => {
    if (event.type === 'TextDelta' && index > beginning) {
      response += event.delta;
      return response.length;
    }
    const { seq: _, at: __, ...rest } = event;
    return keepsToolTexts ? rest : withoutToolTexts(rest);
  });
  const eventTimes = events.map(({ at }) => (at === null ? UNKNOWN : Math.max(at - createdAt, 0)));
  return { response, events: recorded, eventTimes };
}

function withoutToolTexts<Event extends object>(event: Event) {
  return { ...event, arguments: undefined, result: undefined };
}

/** A piece of the events of an attempt at a run. */
export type EventPiece = Pick<EventRow, 'response' | 'events' | 'eventTimes'> & {
  /** The number of its first event. */
  fromSeq: number;
};

/** Decodes a piece of the events of a run. */
export function readPiece(
  piece: EventPiece,
  { createdAt }: Pick<EventRow, 'createdAt'>,
): RunEvent[] {
  return decode(piece, createdAt, piece.fromSeq);
}

/** The stored events of the earlier attempts at an active run. */
export function earlierEvents(row: EventRow): RunEvent[] {
  return row.events === null ? [] : decode(row, row.createdAt, 1);
}

/** The columns that `readEvents` needs. */
export const EVENT_COLUMNS = {
  id: true,
  sessionId: true,
  status: true,
  createdAt: true,
  startedAt: true,
  finishedAt: true,
  response: true,
  output: true,
  events: true,
  eventTimes: true,
  errorCode: true,
  errorMessage: true,
  latencyMs: true,
  deploymentId: true,
  finishReason: true,
  promptTokens: true,
  completionTokens: true,
  cachedTokens: true,
  reasoningTokens: true,
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
    z.object({
      type: z.literal('ToolStarted'),
      name: z.string(),
      label: z.string().optional(),
      callId: z.string(),
      recordId: z.string().optional(),
      arguments: z.string().optional(),
    }),
    z.object({
      type: z.literal('ToolFinished'),
      name: z.string(),
      callId: z.string(),
      recordId: z.string().optional(),
      status: z.enum(ToolCallStatus).optional(),
      failed: z.boolean(),
      durationMs: z.int(),
      result: z.string().optional(),
    }),
  ]),
);

/**
 * Decodes a run's stored events, and its terminal event if the run is finished. A run whose text was erased has only
 * `RunStarted` and its terminal event. A run that never started has no `RunStarted`. If no times were stored with the
 * events, the terminal event has none either.
 */
export function readEvents(row: EventRow): { events: RunEvent[]; end: EndEvent | undefined } {
  if (row.events === null) {
    const { id: runId, sessionId, startedAt } = row;
    const at = startedAt?.getTime() ?? null;
    const events: RunEvent[] = startedAt
      ? [{ seq: 1, at, type: 'RunStarted', runId, sessionId }]
      : [];
    return { events, end: endOf(row, events) };
  }
  const events = decode(row, row.createdAt, 1);
  return { events, end: endOf(row, events) };
}

/** @param fromSeq the number of the first event. */
function decode(
  record: Pick<EventRow, 'response' | 'events' | 'eventTimes'>,
  createdAt: Date,
  fromSeq: number,
): RunEvent[] {
  const text = record.response ?? '';
  let position = 0;
  return recordedEvents.parse(record.events).map((event, index): RunEvent => {
    const time = record.eventTimes[index] ?? UNKNOWN;
    const at = time === UNKNOWN ? null : createdAt.getTime() + time;
    const place = { seq: fromSeq + index, at };
    if (typeof event !== 'number') return { ...place, ...event };
    const delta = text.slice(position, event);
    position = event;
    return { ...place, type: 'TextDelta', delta };
  });
}

function endOf(row: EventRow, events: RunEvent[]): EndEvent | undefined {
  const seq = events.length + 1;
  const isTimed = events.length === 0 || events.some(({ at }) => at !== null);
  const at =
    isTimed && row.finishedAt ? Math.max(row.finishedAt.getTime(), latestOf(events)) : null;
  const { id: runId, status, promptTokens, completionTokens, toolsCalled } = row;
  const latencyMs = row.latencyMs ?? 0;
  const tokensUsed = promptTokens + completionTokens;
  switch (status) {
    case 'QUEUED':
    case 'RUNNING':
      return undefined;
    case 'COMPLETED': {
      const { deploymentId, finishReason, cachedTokens, reasoningTokens } = row;
      const end = { deploymentId, finishReason, cachedTokens, reasoningTokens };
      const done = { type: 'ChatDone', runId, latencyMs, tokensUsed, toolsCalled } as const;
      const output = isJsonObject(row.output) ? { output: row.output } : {};
      return { seq, at, ...done, ...output, end: { ...end, promptTokens, completionTokens } };
    }
    case 'CANCELLED':
      return { seq, at, type: 'ChatCancelled', runId, latencyMs, tokensUsed };
    case 'FAILED': {
      const code: ErrorCode = readErrorCode(row.errorCode ?? '');
      const message = row.errorMessage ?? 'The run failed.';
      return { seq, at, type: 'ChatFailed', runId, latencyMs, code, message };
    }
  }
}
