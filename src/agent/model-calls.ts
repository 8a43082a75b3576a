import type { Definition } from '../language/definition.ts';
import { ModelError } from '../model/failure.ts';
import type { Model, ModelEvent, ModelMessage, ModelRequest, ToolCall } from '../model/model.ts';
import type { Observer } from '../observability/observer.ts';
import type { Redactor } from '../redaction/redact.ts';
import type { Span } from '../runs/trace/trace.ts';
import type { JsonObject } from '../text/json.ts';
import type { DeltaCoalescer } from './delta-coalescer.ts';
import { chooseModel } from './model-choice.ts';
import { writtenHost } from './open-model.ts';
import { type CallTrace, traceCall } from './trace-call.ts';
import { MAX_SERVER_TEXT, redactFailure, shorten } from './untrusted-text.ts';
import type { UsageMeter } from './usage.ts';

export type ModelCallOptions = {
  model: Model;
  definition: Definition;
  /** The JSON Schema of a structured reply; undefined for text. */
  outputSchema: JsonObject | undefined;
  redactor: Redactor;
  /** The conversation's id, if the run belongs to one. */
  sessionId: string | undefined;
  /** The parent of the spans of model calls and tool calls. */
  span: Span;
  observer: Observer;
};

/** What the model calls of a run have in common with its result. */
export type CallResult = {
  /** The text of all model answers. */
  response: string;
  /** Why the model ended its last answer, as the server says it, redacted. */
  finishReason?: string;
  /** The model that answered, if it is not the first one. */
  model?: string;
};

/** The answer of a model call. */
export type Answer = {
  text: string;
  calls: ToolCall[];
  reasoning: JsonObject | undefined;
  /** Whether the model called tools although the request allowed none. Such calls are dropped. */
  hasStrayCalls: boolean;
  /** Whether a fallback model answered. */
  isFallback: boolean;
};

/** A failed model call, and whether a part of its answer was emitted. */
type Failed = { failure: unknown; hasEmitted: boolean; trace: CallTrace };

/** Makes the model calls of one run, and adds them to its result. */
export function createModelCalls(
  options: ModelCallOptions,
  result: CallResult,
  meter: Pick<UsageMeter, 'begin'>,
) {
  const { model, definition, outputSchema, redactor, span, observer } = options;
  const choice = chooseModel(model, definition.model);
  /** How many messages of the conversation are older than the choice of the current model. */
  let olderCount = 0;

  /**
   * Streams an answer of one model, redacting secrets. Returns its text and tool calls, or its failure. Text of a
   * structured reply is held back.
   */
  const streamOnce = async (
    request: ModelRequest,
    turn: ReturnType<typeof meter.begin>,
    deltas: DeltaCoalescer,
    signal: AbortSignal,
  ): Promise<Answer | Failed> => {
    const trace = traceCall(span, request, options);
    const redacted = redactor.stream();
    const calls: ToolCall[] = [];
    const mayCall = request.tools.length > 0 && request.toolChoice !== 'none';
    const isFallback = olderCount > 0;
    let reasoning: JsonObject | undefined;
    let hasStrayCalls = false;
    let hasEmitted = false;
    let text = '';
    const setModel = () => {
      if (isFallback) result.model = request.model;
    };
    const emitText = (delta: string) => {
      if (delta === '') return;
      text += delta;
      turn.addText(delta);
      if (outputSchema) return;
      setModel();
      result.response += delta;
      deltas.push(delta);
    };
    const endText = () => {
      emitText(redacted.end());
      deltas.flush();
    };
    const onEvent = (event: ModelEvent) => {
      trace.record(event);
      if (event.type === 'text-delta') {
        hasEmitted ||= outputSchema === undefined;
        return emitText(redacted.push(event.text));
      }
      endText();
      if (event.type === 'finish') {
        setModel();
        reasoning = event.reasoning;
        result.finishReason = shorten(event.reason, MAX_SERVER_TEXT, redactor);
        return turn.report(event.usage);
      }
      const { call } = event;
      if (mayCall) calls.push({ ...call, id: redactor.redact(call.id) });
      else hasStrayCalls = true;
    };
    try {
      await model.stream(request, onEvent, signal);
    } catch (error) {
      return {
        failure: redactFailure(error, redactor, writtenHost(definition)),
        hasEmitted,
        trace,
      };
    } finally {
      endText();
    }
    return { text, calls, reasoning, hasStrayCalls, isFallback };
  };

  return {
    /**
     * Streams one model call. A call that fails before it emits text is repeated with the next model, which then serves
     * the rest of the run. It gets no reasoning and no unknown members of calls of the models before it.
     *
     * @param request its messages only grow from call to call.
     */
    async stream(
      request: Omit<ModelRequest, 'model'>,
      deltas: DeltaCoalescer,
      signal: AbortSignal,
    ): Promise<Answer> {
      const turn = meter.begin(request.messages);
      for (;;) {
        const messages = ownMessages(request.messages, olderCount);
        const own = { ...request, messages, model: choice.name() };
        const attempt = await streamOnce(own, turn, deltas, signal);
        if (!('failure' in attempt)) return attempt;
        const { failure, hasEmitted, trace } = attempt;
        if (hasEmitted || !(failure instanceof ModelError) || !choice.next(failure)) throw failure;
        trace.fail(failure.code);
        observer.modelFellBack();
        olderCount = request.messages.length;
      }
    },
  };
}

/** A conversation without the members that only the server of an older model understands. */
function ownMessages(messages: ModelMessage[], olderCount: number): ModelMessage[] {
  if (olderCount === 0) return messages;
  return messages.map((message, index) => {
    if (message.role !== 'assistant' || index >= olderCount) return message;
    const { role, content, toolCalls } = message;
    return { role, content, toolCalls: toolCalls.map(withoutExtra) };
  });
}

/** A tool call without the members that only the server of its model understands. */
export function withoutExtra({ id, name, arguments: text }: ToolCall): ToolCall {
  return { id, name, arguments: text };
}
