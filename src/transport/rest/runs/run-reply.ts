import type { RunData } from '../../../operations/runs.ts';
import { toLowerCase } from '../../../text.ts';

/** A run as documented, with its trace. */
export function toRunReply(run: RunData) {
  return {
    run_id: run.id,
    bot_id: run.bot.id,
    deployment_id: run.deployment?.id ?? null,
    environment: toLowerCase(run.environment),
    kind: toLowerCase(run.kind),
    status: toLowerCase(run.status),
    channel: toLowerCase(run.channel),
    session_id: run.sessionId,
    input: run.input,
    response: run.response,
    error: run.error && { code: run.error.code.toLowerCase(), message: run.error.message },
    model: run.model,
    started_at: run.startedAt?.toISOString() ?? null,
    finished_at: run.finishedAt?.toISOString() ?? null,
    latency_ms: run.latencyMs,
    tokens_used: run.tokensUsed,
    prompt_tokens: run.promptTokens,
    completion_tokens: run.completionTokens,
    tools_called: run.toolsCalled,
    trace: {
      trace_id: run.trace.traceId,
      spans: run.trace.spans.map((span) => ({
        span_id: span.spanId,
        parent_id: span.parentId,
        name: span.name,
        started_at: span.startedAt.toISOString(),
        duration_ms: span.durationMs,
        status: span.status,
        attributes: span.attributes,
      })),
    },
  };
}
