import { startDeadline } from '../deadline.ts';
import type { Redactor } from '../deployments/redact.ts';
import { GatewayError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { Definition } from '../language/definition.ts';
import { ModelError, withDetail } from '../model/failure.ts';
import type { Model, ModelEvent, ModelMessage, ModelRequest, ToolCall } from '../model/model.ts';
import { createAnswerBudget } from '../model/pieces.ts';
import type { Observer } from '../observer.ts';
import type { Span } from '../runs/trace.ts';
import type { HistoryMessage } from '../sessions/history.ts';
import { createDeltaCoalescer } from './delta-coalescer.ts';
import { chooseModel } from './model-choice.ts';
import { readOutput, repairRequest } from './output.ts';
import type { Toolbox, ToolEvent } from './toolbox.ts';
import type { ToolContext } from './tools/tool.ts';
import { type CallTrace, traceCall } from './trace-call.ts';
import { MAX_DETAIL, MAX_SERVER_TEXT, shorten } from './untrusted-text.ts';
import { createUsageMeter, type TotalUsage } from './usage.ts';

/** An event of a running agent. */
export type LoopEvent = { type: 'TextDelta'; delta: string } | ToolEvent;

/** The result of a run. It is complete after the last event and partial before. */
export type LoopResult = {
  /** The text of all model answers. */
  response: string;
  /** The answers, tool calls and tool results, for the history. */
  messages: HistoryMessage[];
  usage(): TotalUsage;
  /** Why the model ended its last answer, as the server says it, redacted. */
  finishReason?: string;
  /** The model that answered, if it is not the first one. */
  model?: string;
  /** In call order, without repeats. */
  toolsCalled: string[];
  /** The structured reply, if one was requested. `response` is then its JSON alone. */
  output?: JsonObject;
};

/** A prepared run. */
export type Loop = {
  result: LoopResult;
  /**
   * Calls the model, runs the tools that it requests, sends back their results, and repeats until an answer requests
   * no tool. Tool calls beyond the definition's limit are refused; the next model call then allows none. A structured
   * reply is emitted once it is checked; a wrong one gets one more model call. A call that fails before its first text
   * is repeated with the next fallback model, which then serves the rest of the run.
   *
   * @param emit receives each event.
   * @throws GatewayError `model_error`, or `model_timeout` for a model call or a run that exceeds its time limit.
   */
  run(emit: (event: LoopEvent) => void): Promise<void>;
};

export type LoopOptions = {
  model: Model;
  definition: Definition;
  messages: ModelMessage[];
  toolbox: Toolbox;
  /** The JSON Schema of a structured reply; undefined for text. */
  outputSchema: JsonObject | undefined;
  redactor: Redactor;
  /** The conversation's id, if the run belongs to one. */
  sessionId: string | undefined;
  values: ToolContext['values'];
  /** The parent of the spans of model calls and tool calls. */
  span: Span;
  observer: Observer;
  signal: AbortSignal;
};

export function createLoop(options: LoopOptions): Loop {
  const { model, definition, messages, toolbox, outputSchema, redactor, values, span } = options;
  const meter = createUsageMeter();
  const result: LoopResult = {
    response: '',
    messages: [],
    usage: meter.total,
    toolsCalled: [],
  };

  const budget = createAnswerBudget();
  const choice = chooseModel(model, definition.model);

  /** Streams one model call, also with the next models if it fails. */
  const streamCall = async (
    request: Omit<ModelRequest, 'model'>,
    deltas: ReturnType<typeof createDeltaCoalescer>,
    signal: AbortSignal,
  ) => {
    const turn = meter.begin(request.messages);
    for (;;) {
      const attempt = await streamOnce({ ...request, model: choice.name() }, turn, deltas, signal);
      if (!('failure' in attempt)) return attempt;
      const { failure, hasText, trace } = attempt;
      if (hasText || !(failure instanceof ModelError) || !choice.next(failure)) throw failure;
      trace.fail(failure.code);
      options.observer.modelFellBack();
      result.model = choice.name();
    }
  };

  /**
   * Streams an answer of one model, redacting secrets. Returns its text and tool calls, or its failure. Text of a
   * structured reply is held back.
   */
  const streamOnce = async (
    request: ModelRequest,
    turn: ReturnType<typeof meter.begin>,
    deltas: ReturnType<typeof createDeltaCoalescer>,
    signal: AbortSignal,
  ): Promise<Answered | Failed> => {
    const trace = traceCall(span, request, options);
    const redacted = redactor.stream();
    const calls: ToolCall[] = [];
    const mayCall = request.tools.length > 0 && request.toolChoice !== 'none';
    let reasoning: JsonObject | undefined;
    let hasText = false;
    let text = '';
    const emitText = (delta: string) => {
      if (delta === '') return;
      text += delta;
      turn.addText(delta);
      if (outputSchema) return;
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
        hasText = true;
        return emitText(redacted.push(event.text));
      }
      endText();
      if (event.type === 'finish') {
        reasoning = event.reasoning;
        result.finishReason = shorten(event.reason, MAX_SERVER_TEXT, redactor);
        return turn.report(event.usage);
      }
      // A model may call tools even if the request allowed none. Such calls are dropped.
      const { call } = event;
      if (mayCall) calls.push({ ...call, id: redactor.redact(call.id) });
    };
    try {
      await model.stream(request, onEvent, signal);
    } catch (error) {
      return { failure: redactedFailure(error, redactor), hasText, trace };
    } finally {
      endText();
    }
    return { text, calls, reasoning };
  };

  const work = async (emit: (event: LoopEvent) => void, signal: AbortSignal) => {
    const { temperature, maxTokens, parameters, timeout } = definition.model;
    const conversation = [...messages];
    const deltas = createDeltaCoalescer((delta) => emit({ type: 'TextDelta', delta }));
    let isRepair = false;
    /** Accepts a structured reply, or requests another one. @returns whether it was accepted. */
    const acceptOutput = (schema: JsonObject, text: string): boolean => {
      const read = readOutput(schema, text);
      if ('problem' in read) {
        if (isRepair) throw unfit();
        isRepair = true;
        conversation.push({ role: 'assistant', content: text, toolCalls: [] });
        conversation.push({ role: 'user', content: repairRequest(read.problem) });
        return false;
      }
      result.output = read.output;
      result.response = read.text;
      result.messages.push({ role: 'ASSISTANT', text: read.text, toolCalls: [] });
      deltas.push(read.text);
      deltas.flush();
      return true;
    };
    for (let callsLeft = definition.limits.toolCalls; ; ) {
      const mayCall = callsLeft > 0 && !isRepair;
      const request: Omit<ModelRequest, 'model'> = {
        messages: conversation,
        tools: definition.limits.toolCalls > 0 ? toolbox.tools : [],
        toolChoice: mayCall ? undefined : 'none',
        temperature,
        maxTokens,
        reasoningEffort: definition.model.reasoning,
        parameters,
        timeout,
        budget,
        outputSchema,
      };
      const { text, calls, reasoning } = await streamCall(request, deltas, signal);
      if (signal.aborted) return;
      if (outputSchema && calls.length === 0) {
        if (acceptOutput(outputSchema, text)) return;
        continue;
      }
      const named = calls.map(toolbox.record);
      const toolCalls = named.map((call) => ({ ...call, name: toolbox.wireNameOf(call.name) }));
      conversation.push({ role: 'assistant', content: text, toolCalls, reasoning });
      result.messages.push({ role: 'ASSISTANT', text, toolCalls: named });
      if (calls.length === 0) return;
      for (const call of calls.slice(0, callsLeft)) {
        const name = toolbox.nameOf(call.name);
        if (name && !result.toolsCalled.includes(name)) result.toolsCalled.push(name);
      }
      const answers = await toolbox.callAll(calls, callsLeft, { signal, values, span }, emit);
      callsLeft -= calls.length;
      if (signal.aborted) return;
      for (const [index, { id }] of calls.entries()) {
        const text = answers[index] ?? '';
        conversation.push({ role: 'tool', content: text, toolCallId: id });
        result.messages.push({ role: 'TOOL', text, toolCallId: id });
      }
    }
  };

  return { result, run: (emit) => withinRunTime(options, (signal) => work(emit, signal)) };
}

/** The answer of a model call. */
type Answered = { text: string; calls: ToolCall[]; reasoning: JsonObject | undefined };

/** A failed model call, and whether its answer had begun. */
type Failed = { failure: unknown; hasText: boolean; trace: CallTrace };

/** Redacts what a model server answered to a failed call. */
function redactedFailure(error: unknown, redactor: Redactor): unknown {
  if (!(error instanceof ModelError)) return error;
  return withDetail(error, (detail) => shorten(detail, MAX_DETAIL, redactor));
}

function unfit(): GatewayError {
  const message = 'The model did not answer with JSON that fits the output.';
  return new GatewayError('model_error', message);
}

/** Runs the work with a signal that also aborts at the definition's time limit for a run. */
async function withinRunTime(
  { definition, signal }: LoopOptions,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  using deadline = startDeadline(definition.limits.runTime, { signal });
  await work(deadline.signal);
  if (deadline.signal.aborted && !signal.aborted) {
    throw new GatewayError('model_timeout', 'The run exceeded its time limit.');
  }
}
