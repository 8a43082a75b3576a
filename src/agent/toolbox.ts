import { readArguments } from '../model/arguments.ts';
import type { ModelTool, ToolCall } from '../model/model.ts';
import type { Log } from '../observability/log.ts';
import type { Observer } from '../observability/observer.ts';
import type { Redactor } from '../redaction/redact.ts';
import { ATTRIBUTE, OPERATION, OWN_ATTRIBUTE } from '../runs/record/semconv.ts';
import type { Span } from '../runs/trace/trace.ts';
import { fitsArguments, parseArguments } from './tools/arguments.ts';
import { type Tool, type ToolContext, ToolError } from './tools/tool.ts';
import { displayName, shorten } from './untrusted-text.ts';

/** An event of a tool call. */
export type ToolEvent =
  | { type: 'ToolStarted'; name: string; callId: string }
  | { type: 'ToolFinished'; name: string; callId: string; failed: boolean; durationMs: number };

/** The tools of one run. The model calls them by wire names, which follow its naming rules. */
export type Toolbox = {
  tools: ModelTool[];
  /** The tool's name `<group>.<capability>`, or undefined for an unknown tool. */
  nameOf(wireName: string): string | undefined;
  /** The wire name of a tool, even of a tool that no longer exists but was called earlier in the conversation. */
  wireNameOf(name: string): string;
  /**
   * Converts a call for the history, for clients and for the model's next request: it uses the tool's own name, redacts
   * the other members, and replaces arguments that are over 64 KiB or no JSON object by an empty object.
   */
  record(call: ToolCall): ToolCall;
  /**
   * Runs the tool calls of one answer, at most 16 at a time. The result of a call that fails, names an unknown tool or
   * exceeds the limit is an error text for the model. A call that exceeds the limit has no span and no events.
   *
   * @param context its span is the parent of each call's span.
   * @param callsLeft how many calls the run may still make.
   * @param emit receives the events of the calls.
   * @returns the result of each call, in the order of the calls.
   */
  callAll(
    calls: ToolCall[],
    callsLeft: number,
    context: RunContext,
    emit: (event: ToolEvent) => void,
  ): Promise<string[]>;
};

/** The run's values for its tool calls, and the parent of their spans. */
export type RunContext = Omit<ToolContext, 'span'> & { span: Span };

const MAX_WIRE_NAME = 64;
/** Characters of a call id in events. Some servers put a signature of several KiB into the id. */
export const MAX_CALL_ID = 256;
/** Concurrent calls of one run. */
const MAX_CONCURRENT = 16;
const STOPPED = 'The run was aborted.';
const NO_MORE_CALLS = 'Error: No more tool calls are allowed. Answer without them.';

/** Creates the toolbox of one run. Wire names are unique, at most 64 characters long, and free of special characters. */
export function createToolbox(
  tools: Tool[],
  { redactor, observer, log }: { redactor: Redactor; observer: Observer; log: Log },
): Toolbox {
  const byWireName = new Map<string, Tool>();
  const wireNames = new Map<string, string>();
  for (const tool of tools) {
    const plain = plainName(tool.name);
    let wireName = plain;
    for (let count = 2; byWireName.has(wireName); count += 1) {
      wireName = `${plain.slice(0, MAX_WIRE_NAME - 4)}_${count}`;
    }
    byWireName.set(wireName, tool);
    wireNames.set(tool.name, wireName);
  }

  const nameOf = (wireName: string) => byWireName.get(wireName)?.name;
  const nameFor = (wireName: string) => nameOf(wireName) ?? displayName(wireName, redactor);

  const answer = async (call: ToolCall, context: ToolContext) => {
    const tool = byWireName.get(call.name);
    if (!tool) {
      const message = `There is no tool "${displayName(call.name, redactor)}".`;
      throw new ToolError(message, { type: 'unknown_tool' });
    }
    return tool.call(parseArguments(call.arguments), context);
  };

  const errorText = (error: unknown, name: string) => {
    if (error instanceof ToolError) return redactor.redact(error.message);
    log.error({ tool: name, err: error }, 'Unexpected tool failure.');
    return 'The tool failed.';
  };

  /** A trace names known tools only. */
  const trace = (parent: Span, { name: wireName }: ToolCall, callId: string) => {
    const name = nameOf(wireName);
    return parent.begin(name ? `${OPERATION.executeTool} ${name}` : OPERATION.executeTool, {
      [ATTRIBUTE.operation]: OPERATION.executeTool,
      [ATTRIBUTE.toolName]: name,
      [ATTRIBUTE.toolType]: 'function',
      [ATTRIBUTE.toolCallId]: callId,
    });
  };

  const callOne = async (call: ToolCall, context: RunContext, emit: (event: ToolEvent) => void) => {
    const name = nameFor(call.name);
    const callId = shorten(call.id, MAX_CALL_ID, redactor);
    const startedAt = performance.now();
    emit({ type: 'ToolStarted', name, callId });
    const span = trace(context.span, call, callId);
    const finished = (failed: boolean, text: string) => {
      const milliseconds = performance.now() - startedAt;
      observer.toolCalled(milliseconds / 1_000);
      emit({
        type: 'ToolFinished',
        name,
        callId,
        failed,
        durationMs: Math.round(milliseconds),
      });
      return failed ? `Error: ${text}` : text;
    };
    try {
      const text = await answer(call, { ...context, span });
      span.end();
      return finished(false, text);
    } catch (error) {
      // If the run was aborted, the run ends this span with its own reason.
      if (context.signal.aborted) return finished(true, STOPPED);
      span.end(error instanceof ToolError ? error.type : 'internal_error');
      return finished(true, errorText(error, name));
    }
  };

  return {
    tools: [...byWireName].map(([name, { description, inputSchema }]) => ({
      name,
      description,
      parameters: inputSchema,
    })),

    wireNameOf: (name) => wireNames.get(name) ?? plainName(name),
    nameOf,

    record: ({ id, name, arguments: text, extra }) => ({
      id,
      name: nameFor(name),
      arguments: (fitsArguments(text) && readArguments(redactor.redact(text))) || '{}',
      // A server refuses changed members, so a secret in them costs the whole.
      ...(extra !== undefined && redactor.redact(extra) === extra && { extra }),
    }),

    async callAll(calls, callsLeft, context, emit) {
      const answers = calls.map(() => NO_MORE_CALLS);
      const allowed = calls.slice(0, callsLeft);
      const refused = calls.length - allowed.length;
      if (refused > 0) context.span.set({ [OWN_ATTRIBUTE.toolCallsRefused]: refused });
      // All workers share one iterator.
      const next = allowed.entries();
      const work = async () => {
        for (const [index, call] of next) answers[index] = await callOne(call, context, emit);
      };
      await Promise.all(Array.from({ length: MAX_CONCURRENT }, work));
      return answers;
    },
  };
}

function plainName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_WIRE_NAME);
}
