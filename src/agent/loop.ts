import type { Redactor } from '../deployments/redact.ts';
import { GatewayError } from '../errors.ts';
import type { Definition } from '../language/definition.ts';
import type { Model, ModelMessage, ToolCall } from '../model/model.ts';
import type { Span } from '../runs/trace.ts';
import type { HistoryMessage } from '../sessions/history.ts';
import { redactEvents } from './redact-events.ts';
import type { Toolbox, ToolEvent } from './toolbox.ts';
import type { ToolContext } from './tools/tool.ts';
import { traceCall } from './trace-call.ts';
import { createUsageMeter, type TotalUsage } from './usage.ts';

/** What happens while an agent works. */
export type LoopEvent = { type: 'TextDelta'; delta: string } | ToolEvent;

/** What an agent's work leaves; whole after the last event, and so far as it got at any time before. */
export type LoopResult = {
  /** All that was said. */
  response: string;
  /** What was said and called, for the history. */
  messages: HistoryMessage[];
  usage(): TotalUsage;
  /** In call order, without repeats. */
  toolsCalled: string[];
};

/** An agent at work. */
export type Loop = { result: LoopResult; events: AsyncGenerator<LoopEvent, void> };

export type LoopOptions = {
  model: Model;
  definition: Definition;
  messages: ModelMessage[];
  toolbox: Toolbox;
  redactor: Redactor;
  values: ToolContext['values'];
  /** Gets the calls of the model and of tools as its parts. */
  span: Span;
  signal: AbortSignal;
};

/**
 * Asks the model, calls the tools that it wishes for, tells it what they answered, and asks again, until it only
 * speaks. Calls beyond the definition's limit are refused, and the model is then asked to do without.
 *
 * @throws GatewayError `model_error` or `model_timeout`, also when the definition's time for a run is over.
 */
export function startLoop(options: LoopOptions): Loop {
  const meter = createUsageMeter();
  const result: LoopResult = {
    response: '',
    messages: [],
    usage: meter.total,
    toolsCalled: [],
  };
  return { result, events: withinRunTime(options, (signal) => work(options, signal)) };

  async function* work(
    { model, definition, messages, toolbox, redactor, values, span }: LoopOptions,
    signal: AbortSignal,
  ): AsyncGenerator<LoopEvent, void> {
    const { name, temperature, maxTokens, timeout } = definition.model;
    const conversation = [...messages];
    for (let callsLeft = definition.limits.toolCalls; ; ) {
      const tools = callsLeft > 0 ? toolbox.tools : [];
      const request = {
        model: model.nameFor(name),
        messages: conversation,
        tools,
        temperature,
        maxTokens,
        timeout,
      };
      const turn = meter.begin(conversation);
      const trace = traceCall(span, request, redactor);
      const calls: ToolCall[] = [];
      let said = '';
      const events = model.stream(request, signal);
      for await (const event of redactEvents(events, redactor.stream())) {
        trace.hear(event);
        // One that was told of no tools may wish for some all the same; nobody answers that.
        if (event.type === 'tool-call') {
          const { call } = event;
          if (tools.length > 0) calls.push({ ...call, id: redactor.redact(call.id) });
        } else if (event.type === 'finish') turn.report(event.usage);
        else {
          said += event.text;
          result.response += event.text;
          turn.say(event.text);
          yield { type: 'TextDelta', delta: event.text };
        }
      }
      if (signal.aborted) return;
      conversation.push({ role: 'assistant', content: said, toolCalls: calls });
      const named = calls.map((call) => ({
        ...call,
        name: toolbox.nameOf(call.name) ?? call.name,
      }));
      result.messages.push({ role: 'ASSISTANT', text: said, toolCalls: named });
      if (calls.length === 0) return;
      for (const call of calls.slice(0, callsLeft)) {
        const name = toolbox.nameOf(call.name);
        if (name && !result.toolsCalled.includes(name)) result.toolsCalled.push(name);
      }
      const answers = new Map<string, string>();
      yield* toolbox.callAll(calls, callsLeft, { signal, values, span }, answers);
      callsLeft -= calls.length;
      if (signal.aborted) return;
      for (const { id } of calls) {
        const text = answers.get(id) ?? '';
        conversation.push({ role: 'tool', content: text, toolCallId: id });
        result.messages.push({ role: 'TOOL', text, toolCallId: id });
      }
    }
  }
}

/** Gives the work a signal that is also aborted when the definition's time for a run is over. */
async function* withinRunTime(
  { definition, signal }: LoopOptions,
  work: (signal: AbortSignal) => AsyncGenerator<LoopEvent, void>,
): AsyncGenerator<LoopEvent, void> {
  const time = new AbortController();
  const stop = () => time.abort();
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  const timer = setTimeout(stop, definition.limits.runTime);
  try {
    yield* work(time.signal);
    if (time.signal.aborted && !signal.aborted) {
      throw new GatewayError('model_timeout', 'The run did not end within its time.');
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}
