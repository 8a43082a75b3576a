import type { Model, ModelEvent, ModelRequest } from '../model/model.ts';
import type { Redactor } from '../redaction/redact.ts';
import { ATTRIBUTE, OPERATION, OWN_ATTRIBUTE } from '../runs/record/semconv.ts';
import type { Span } from '../runs/trace/trace.ts';
import { MAX_SERVER_TEXT, shorten } from './untrusted-text.ts';

/** Receives every event of one model call. */
export type CallTrace = {
  record(event: ModelEvent): void;
  /** Ends the span of a call that failed, because another model is called in its place. */
  fail(errorType: string): void;
};

/**
 * Starts the span of a model call. The span covers the retry and ends at the `finish` event. It omits the server's
 * address, which may come from a deployment's variable.
 *
 * @param sessionId the conversation's id, if the call belongs to one.
 */
export function traceCall(
  parent: Span,
  request: ModelRequest,
  {
    redactor,
    sessionId,
    model: { provider },
  }: { redactor: Redactor; sessionId: string | undefined; model: Pick<Model, 'provider'> },
): CallTrace {
  const { model, temperature, maxTokens } = request;
  const span = parent.begin(
    `${OPERATION.chat} ${model}`,
    {
      [ATTRIBUTE.operation]: OPERATION.chat,
      [ATTRIBUTE.provider]: provider,
      [ATTRIBUTE.conversationId]: sessionId,
      [ATTRIBUTE.requestModel]: model,
      [ATTRIBUTE.temperature]: temperature,
      [ATTRIBUTE.maxTokens]: maxTokens,
      [ATTRIBUTE.stream]: true,
    },
    'remote',
  );
  const startedAt = performance.now();
  let isFirst = true;
  return {
    record(event) {
      if (isFirst) {
        span.set({ [ATTRIBUTE.timeToFirstChunk]: (performance.now() - startedAt) / 1_000 });
        isFirst = false;
      }
      if (event.type !== 'finish') return;
      span.set({
        [ATTRIBUTE.responseModel]: event.model && shorten(event.model, MAX_SERVER_TEXT, redactor),
        [ATTRIBUTE.finishReasons]: [shorten(event.reason, MAX_SERVER_TEXT, redactor)],
        [ATTRIBUTE.inputTokens]: event.usage?.promptTokens,
        [ATTRIBUTE.outputTokens]: event.usage?.completionTokens,
        [ATTRIBUTE.cachedTokens]: event.usage?.cachedTokens,
        [ATTRIBUTE.reasoningTokens]: event.usage?.reasoningTokens,
        [OWN_ATTRIBUTE.modelAttempts]: event.attempts,
        [OWN_ATTRIBUTE.requestLeftOut]: event.leftOut,
        [OWN_ATTRIBUTE.reasoningLength]: event.reasoningLength,
        [OWN_ATTRIBUTE.partsIgnored]: event.ignored,
      });
      span.end();
    },
    fail: (errorType) => span.end(errorType),
  };
}
