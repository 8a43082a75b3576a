import type { RunOutcome } from '../life/runs.ts';
import { traceIdOf } from '../trace/trace.ts';

/** The columns that the end of a run sets. Its error has columns of other names. */
type OutcomeColumn = Exclude<
  keyof RunOutcome,
  'error' | 'events' | 'eventTimes' | 'hasProgress' | 'prompt' | 'toolCalls'
>;

/** The fields of a run as they were when it was enqueued. Its current state does not change them. */
export function asQueued({ traceparent }: { traceparent: unknown }) {
  return {
    status: 'QUEUED' as const,
    deployment: null,
    model: null,
    response: null,
    output: null,
    errorCode: null,
    errorMessage: null,
    errorDetail: null,
    startedAt: null,
    finishedAt: null,
    latencyMs: null,
    promptTokens: 0,
    completionTokens: 0,
    tokensEstimated: false,
    cachedTokens: null,
    reasoningTokens: null,
    finishReason: null,
    toolsCalled: [],
    traceId: traceIdOf(traceparent) ?? null,
    spans: null,
  } satisfies Record<OutcomeColumn, unknown> & Record<string, unknown>;
}
