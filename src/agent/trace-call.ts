import type { Redactor } from '../deployments/redact.ts';
import type { ModelEvent, ModelRequest } from '../model/model.ts';
import { ATTRIBUTE, OPERATION, PROVIDER } from '../runs/semconv.ts';
import type { Span } from '../runs/trace.ts';
import { shorten } from './stranger-text.ts';

/** Characters of a model's name and of a finish reason, which the server chooses. */
const MAX_TEXT = 256;

/** Is told all that a model says in one call. */
export type CallTrace = { hear(event: ModelEvent): void };

/**
 * Begins the span of a model's call, a second try included, which ends with the model's `finish`. The address of
 * the server is not told: it may come from a deployment's variable.
 *
 * @param sessionId of the conversation that it is of, if it is of one.
 */
export function traceCall(
  parent: Span,
  request: ModelRequest,
  { redactor, sessionId }: { redactor: Redactor; sessionId: string | undefined },
): CallTrace {
  const { model, temperature, maxTokens } = request;
  const span = parent.begin(
    `${OPERATION.chat} ${model}`,
    {
      [ATTRIBUTE.operation]: OPERATION.chat,
      [ATTRIBUTE.provider]: PROVIDER,
      [ATTRIBUTE.conversationId]: sessionId,
      [ATTRIBUTE.requestModel]: model,
      [ATTRIBUTE.temperature]: temperature,
      [ATTRIBUTE.maxTokens]: maxTokens,
      [ATTRIBUTE.stream]: true,
    },
    'remote',
  );
  const askedAt = performance.now();
  let isFirst = true;
  return {
    hear(event) {
      if (isFirst) {
        span.set({ [ATTRIBUTE.timeToFirstChunk]: (performance.now() - askedAt) / 1_000 });
        isFirst = false;
      }
      if (event.type !== 'finish') return;
      span.set({
        [ATTRIBUTE.responseModel]: event.model && shorten(event.model, MAX_TEXT, redactor),
        [ATTRIBUTE.finishReasons]: [shorten(event.reason, MAX_TEXT, redactor)],
        [ATTRIBUTE.inputTokens]: event.usage?.promptTokens,
        [ATTRIBUTE.outputTokens]: event.usage?.completionTokens,
      });
      span.end();
    },
  };
}
