import type { Redactor } from '../deployments/redact.ts';
import type { Log } from '../log.ts';
import type { ModelTool, ToolCall } from '../model/model.ts';
import { ATTRIBUTE, OPERATION, OWN_ATTRIBUTE } from '../runs/semconv.ts';
import type { Span } from '../runs/trace.ts';
import { displayName, shorten } from './stranger-text.ts';
import { fitsArguments, parseArguments } from './tools/arguments.ts';
import { type Tool, type ToolContext, ToolError } from './tools/tool.ts';

/** What happens to a call of a tool. */
export type ToolEvent =
  | { type: 'ToolStarted'; name: string; callId: string }
  | { type: 'ToolFinished'; name: string; callId: string; failed: boolean; durationMs: number };

/** The tools of one run, under the names that the model knows them by. */
export type Toolbox = {
  tools: ModelTool[];
  /** The tool's own name `<group>.<capability>`; none where there is no such tool. */
  nameOf(wireName: string): string | undefined;
  /** The name on the wire of a tool, also of one that was called in the past and is no more. */
  wireNameOf(name: string): string;
  /**
   * A call as the history, clients and the model's next request have it: under the tool's own name, redacted, and
   * without arguments over 64 KiB.
   */
  record(call: ToolCall): ToolCall;
  /**
   * Makes the calls of one answer, at most 16 at a time. A call that fails, that names no tool, or that exceeds the
   * limit is answered with an error that the model reads; one that exceeds the limit has no span and no events.
   *
   * @param context its span gets a part for each call.
   * @param callsLeft how many calls the run may still make.
   * @param hear receives the events of the calls.
   * @returns the answer to each call, in their order.
   */
  callAll(
    calls: ToolCall[],
    callsLeft: number,
    context: RunContext,
    hear: (event: ToolEvent) => void,
  ): Promise<string[]>;
};

/** What calls know of the run, and where the run's trace gets them. */
export type RunContext = Omit<ToolContext, 'span'> & { span: Span };

const MAX_WIRE_NAME = 64;
/** Characters of a call's id in events; some servers hold a signature of several KiB in it. */
const MAX_CALL_ID = 256;
/** Calls of one run under way at once. */
const MAX_CONCURRENT = 16;
const STOPPED = 'The run was stopped.';
const NO_MORE_CALLS = 'Error: No more calls of tools are allowed. Answer without them.';

/** A table of names made for this run: short and safe, and never two the same. */
export function createToolbox(
  tools: Tool[],
  { redactor, log }: { redactor: Redactor; log: Log },
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

  const say = (error: unknown, name: string) => {
    if (error instanceof ToolError) return redactor.redact(error.message);
    log.error({ tool: name, err: error }, 'A tool failed in a way that it should not.');
    return 'The tool failed.';
  };

  /** A trace names only tools that exist. */
  const trace = (parent: Span, { name: wireName }: ToolCall, callId: string) => {
    const name = nameOf(wireName);
    return parent.begin(name ? `${OPERATION.executeTool} ${name}` : OPERATION.executeTool, {
      [ATTRIBUTE.operation]: OPERATION.executeTool,
      [ATTRIBUTE.toolName]: name,
      [ATTRIBUTE.toolType]: 'function',
      [ATTRIBUTE.toolCallId]: callId,
    });
  };

  const callOne = async (call: ToolCall, context: RunContext, hear: (event: ToolEvent) => void) => {
    const name = nameFor(call.name);
    const callId = shorten(call.id, MAX_CALL_ID, redactor);
    const startedAt = performance.now();
    hear({ type: 'ToolStarted', name, callId });
    const span = trace(context.span, call, callId);
    const finished = (failed: boolean, text: string) => {
      const durationMs = Math.round(performance.now() - startedAt);
      hear({ type: 'ToolFinished', name, callId, failed, durationMs });
      return failed ? `Error: ${text}` : text;
    };
    try {
      const text = await answer(call, { ...context, span });
      span.end();
      return finished(false, text);
    } catch (error) {
      // A call that the run's end stops is ended by the run, for its reason.
      if (context.signal.aborted) return finished(true, STOPPED);
      span.end(error instanceof ToolError ? error.type : 'internal_error');
      return finished(true, say(error, name));
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

    record: ({ id, name, arguments: text }) => ({
      id,
      name: nameFor(name),
      arguments: fitsArguments(text) ? redactor.redact(text) : '{}',
    }),

    async callAll(calls, callsLeft, context, hear) {
      const answers = calls.map(() => NO_MORE_CALLS);
      const allowed = calls.slice(0, callsLeft);
      const refused = calls.length - allowed.length;
      if (refused > 0) context.span.set({ [OWN_ATTRIBUTE.toolCallsRefused]: refused });
      // Each worker takes the next call from the one iterator that they share.
      const next = allowed.entries();
      const work = async () => {
        for (const [index, call] of next) answers[index] = await callOne(call, context, hear);
      };
      await Promise.all(Array.from({ length: MAX_CONCURRENT }, work));
      return answers;
    },
  };
}

function plainName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_WIRE_NAME);
}
