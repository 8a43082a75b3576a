import type { RunData, RunFacts } from '../../../operations/runs.ts';
import { toLowerCase } from '../../../text.ts';

/** Maps a run to the documented response. */
export function toRunReply(run: RunData) {
  return { ...toStoppedRunReply(run), input: run.input, trace: toTrace(run.trace) };
}

/** Maps a run that the key may cancel but not read: its contents are null. */
export function toStoppedRunReply(run: RunFacts) {
  return {
    run_id: run.id,
    bot_id: run.bot.id,
    deployment_id: run.deployment?.id ?? null,
    environment: toLowerCase(run.environment),
    kind: toLowerCase(run.kind),
    status: toLowerCase(run.status),
    channel: toLowerCase(run.channel),
    session_id: run.sessionId,
    input: run.input ?? null,
    response: run.response ?? null,
    error: run.error ? { code: run.error.code.toLowerCase(), message: run.error.message } : null,
    model: run.model,
    started_at: run.startedAt?.toISOString() ?? null,
    finished_at: run.finishedAt?.toISOString() ?? null,
    latency_ms: run.latencyMs,
    tokens_used: run.tokensUsed,
    prompt_tokens: run.promptTokens,
    completion_tokens: run.completionTokens,
    tools_called: run.toolsCalled,
    trace: run.trace ? toTrace(run.trace) : null,
  };
}

function toTrace({ traceId, spans }: RunData['trace']) {
  return {
    trace_id: traceId,
    spans: spans.map((span) => ({
      span_id: span.spanId,
      parent_id: span.parentId,
      name: span.name,
      started_at: span.startedAt.toISOString(),
      duration_ms: span.durationMs,
      status: span.status,
      attributes: span.attributes,
    })),
  };
}
