import { readArguments } from '../model/arguments.ts';
import type { ModelTool, ToolCall } from '../model/model.ts';
import type { Log } from '../observability/log.ts';
import type { Observer } from '../observability/observer.ts';
import type { Redactor } from '../redaction/redact.ts';
import { OWN_ATTRIBUTE } from '../runs/record/semconv.ts';
import type { Ledger } from '../runs/tool-calls/ledger.ts';
import { createCallTool, newCallOf, type RunContext, type ToolEvent } from './call-tool.ts';
import { fitsArguments } from './tools/arguments.ts';
import type { Tool } from './tools/tool.ts';
import { displayName } from './untrusted-text.ts';

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
   * @throws an error if a call could not be recorded; no further call is sent then.
   */
  callAll(
    calls: ToolCall[],
    callsLeft: number,
    context: RunContext,
    emit: (event: ToolEvent) => void,
  ): Promise<string[]>;
};

const MAX_WIRE_NAME = 64;
/** Concurrent calls of one run. */
const MAX_CONCURRENT = 16;
const NO_MORE_CALLS = 'Error: No more tool calls are allowed. Answer without them.';

/** Creates the toolbox of one run. Wire names are unique, at most 64 characters long, and free of special characters. */
export function createToolbox(
  tools: Tool[],
  {
    deploymentId,
    approvers,
    ledger,
    redactor,
    observer,
    log,
  }: {
    deploymentId: string;
    /** The chats of Telegram that are asked for approval. */
    approvers: readonly number[];
    ledger: Omit<Ledger, 'unstored'>;
    redactor: Redactor;
    observer: Observer;
    log: Log;
  },
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

  const callTool = createCallTool({ deploymentId, approvers, ledger, redactor, observer, log });
  const nameOf = (wireName: string) => byWireName.get(wireName)?.name;

  const record: Toolbox['record'] = ({ id, name, arguments: text, extra }) => ({
    id,
    name: nameOf(name) ?? displayName(name, redactor),
    arguments: shownArguments(text, redactor),
    // A server refuses changed members, so a secret in them costs the whole.
    ...(extra !== undefined && redactor.redact(extra) === extra && { extra }),
  });

  const refuse = (call: ToolCall) => {
    const { name, arguments: text } = record(call);
    const refused = ledger.open(newCallOf(call.id, { name, arguments: text }, redactor));
    return ledger.finish(refused, { status: 'REFUSED', result: NO_MORE_CALLS });
  };

  return {
    tools: [...byWireName].map(([name, { description, inputSchema }]) => ({
      name,
      description,
      parameters: inputSchema,
    })),

    wireNameOf: (name) => wireNames.get(name) ?? plainName(name),
    nameOf,
    record,

    async callAll(calls, callsLeft, context, emit) {
      const answers = calls.map(() => NO_MORE_CALLS);
      const allowed = calls.slice(0, callsLeft);
      const next = eachOf(allowed);
      const work = async () => {
        for (const [index, call] of next) {
          const tool = byWireName.get(call.name);
          answers[index] = await callTool(tool, call, record(call), context, emit);
        }
      };
      const workers = await Promise.allSettled(Array.from({ length: MAX_CONCURRENT }, work));
      for (const worker of workers) if (worker.status === 'rejected') throw worker.reason;
      const refused = calls.slice(callsLeft);
      for (const call of refused) await refuse(call);
      if (refused.length > 0)
        context.span.set({ [OWN_ATTRIBUTE.toolCallsRefused]: refused.length });
      return answers;
    },
  };
}

/** The entries of a list, for several workers together. A worker that fails ends the iteration of all. */
function* eachOf<Entry>(entries: Entry[]): Generator<[number, Entry]> {
  yield* entries.entries();
}

/** The arguments without values of variables; `{}` if they are over 64 KiB or no JSON object. */
export function shownArguments(text: string, redactor: Redactor): string {
  const shown = fitsArguments(text) && readArguments(redactor.redact(text));
  return shown && fitsArguments(shown) ? shown : '{}';
}

function plainName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_WIRE_NAME);
}
