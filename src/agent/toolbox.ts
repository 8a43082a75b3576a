import type { Log } from '../log.ts';
import type { ModelTool, ToolCall } from '../model/model.ts';
import { ATTRIBUTE, OPERATION } from '../runs/semconv.ts';
import type { Span } from '../runs/trace.ts';
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
   * Calls what the model wishes for, all at once. What fails, what there is not, and what goes beyond the limit
   * answers with an error that the model reads.
   *
   * @param context its span gets a part for each call.
   * @param callsLeft how many calls the run may still make.
   * @param hear is told what happens to them.
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
const STOPPED = 'The run was stopped.';

/** A table of names made for this run: short and safe, and never two the same. */
export function createToolbox(tools: Tool[], log: Log): Toolbox {
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

  const answer = async (call: ToolCall, isAllowed: boolean, context: ToolContext) => {
    const tool = byWireName.get(call.name);
    if (!tool) throw new ToolError(`There is no tool "${call.name}".`, { type: 'unknown_tool' });
    if (!isAllowed) {
      throw new ToolError('No more calls of tools are allowed. Answer without them.', {
        type: 'tool_calls_limit',
      });
    }
    return tool.call(readArguments(call.arguments), context);
  };

  const say = (error: unknown, name: string) => {
    if (error instanceof ToolError) return error.message;
    log.error({ tool: name, err: error }, 'A tool failed in a way that it should not.');
    return 'The tool failed.';
  };

  /** A name that is no tool's is the model's words, which do not belong into a trace. */
  const trace = (parent: Span, { id, name: wireName }: ToolCall) => {
    const name = byWireName.get(wireName)?.name;
    return parent.begin(name ? `${OPERATION.executeTool} ${name}` : OPERATION.executeTool, {
      [ATTRIBUTE.operation]: OPERATION.executeTool,
      [ATTRIBUTE.toolName]: name,
      [ATTRIBUTE.toolType]: 'function',
      [ATTRIBUTE.toolCallId]: id,
    });
  };

  return {
    tools: [...byWireName].map(([name, { description, inputSchema }]) => ({
      name,
      description,
      parameters: inputSchema,
    })),

    wireNameOf: (name) => wireNames.get(name) ?? plainName(name),
    nameOf: (wireName) => byWireName.get(wireName)?.name,

    callAll: (calls, callsLeft, context, hear) =>
      Promise.all(
        calls.map(async (call, index) => {
          const name = byWireName.get(call.name)?.name ?? call.name;
          const what = { name, callId: call.id };
          hear({ type: 'ToolStarted', ...what });
          const startedAt = performance.now();
          const span = trace(context.span, call);
          const finished = (failed: boolean, text: string) => {
            const durationMs = Math.round(performance.now() - startedAt);
            hear({ type: 'ToolFinished', ...what, failed, durationMs });
            return failed ? `Error: ${text}` : text;
          };
          try {
            const text = await answer(call, index < callsLeft, { ...context, span });
            span.end();
            return finished(false, text);
          } catch (error) {
            // What is stopped with the run is ended with it, and for its reason.
            if (context.signal.aborted) return finished(true, STOPPED);
            span.end(error instanceof ToolError ? error.type : 'internal_error');
            return finished(true, say(error, name));
          }
        }),
      ),
  };
}

function plainName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_WIRE_NAME);
}

function readArguments(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    throw new ToolError('The arguments are not valid JSON.', { type: 'invalid_arguments' });
  }
}
