import { startDeadline } from '../async/deadline.ts';
import { GatewayError } from '../errors/errors.ts';
import type { ModelMessage, ModelRequest } from '../model/model.ts';
import { createAnswerBudget } from '../model/pieces.ts';
import type { HistoryMessage } from '../sessions/history.ts';
import type { JsonObject } from '../text/json.ts';
import type { ToolEvent } from './call-tool.ts';
import { createDeltaCoalescer } from './delta-coalescer.ts';
import {
  type CallResult,
  createModelCalls,
  type ModelCallOptions,
  withoutExtra,
} from './model-calls.ts';
import { readOutput, repairRequest } from './output.ts';
import type { Toolbox } from './toolbox.ts';
import type { ToolContext } from './tools/tool.ts';
import { createUsageMeter, type TotalUsage } from './usage.ts';

/** An event of a running agent. */
export type LoopEvent = { type: 'TextDelta'; delta: string } | ToolEvent;

/** The result of a run. It is complete after the last event and partial before. */
export type LoopResult = CallResult & {
  /** The answers, tool calls and tool results, for the history. */
  messages: HistoryMessage[];
  usage(): TotalUsage;
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
   * no tool. Tool calls beyond the definition's limit are refused; the next model call then allows none, and fails the
   * run if it has only tool calls. A structured
   * reply is emitted once it is checked; a wrong one gets one more model call. A call that fails before its first text
   * is repeated with the next fallback model, which then serves the rest of the run.
   *
   * @param emit receives each event.
   * @throws GatewayError `model_error`, or `model_timeout` for a model call or a run that exceeds its time limit.
   */
  run(emit: (event: LoopEvent) => void): Promise<void>;
};

export type LoopOptions = ModelCallOptions & {
  messages: ModelMessage[];
  toolbox: Toolbox;
  values: ToolContext['values'];
  signal: AbortSignal;
};

export function createLoop(options: LoopOptions): Loop {
  const { definition, messages, toolbox, outputSchema, values, span } = options;
  const meter = createUsageMeter();
  const result: LoopResult = {
    response: '',
    messages: [],
    usage: meter.total,
    toolsCalled: [],
  };

  const budget = createAnswerBudget();
  const modelCalls = createModelCalls(options, result, meter);

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
      const answer = await modelCalls.stream(request, deltas, signal);
      if (signal.aborted) return;
      const { text, calls, reasoning, isFallback } = answer;
      if (answer.hasStrayCalls && text.trim() === '') throw strayCall();
      if (outputSchema && calls.length === 0) {
        if (acceptOutput(outputSchema, text)) return;
        continue;
      }
      const named = calls.map(toolbox.record);
      const toolCalls = named.map((call) => ({ ...call, name: toolbox.wireNameOf(call.name) }));
      conversation.push({ role: 'assistant', content: text, toolCalls, reasoning });
      // The next turn begins with the first model again.
      const stored = isFallback ? named.map(withoutExtra) : named;
      result.messages.push({ role: 'ASSISTANT', text, toolCalls: stored });
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

function strayCall(): GatewayError {
  const message = 'The model called a tool although the request allowed no more tool calls.';
  return new GatewayError('model_error', message);
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
