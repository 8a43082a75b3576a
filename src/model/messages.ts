import type { JsonObject } from '../text/json.ts';
import { readArguments } from './arguments.ts';
import type { RequestForm } from './form.ts';
import type { ModelMessage, ToolCall } from './model.ts';
import { objectOrEmpty, parseOrNone } from './wire.ts';

/** A message of a request. */
export type WireMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'tool'; content: string; tool_call_id: string }
  | {
      role: 'assistant';
      content: string | null;
      tool_calls?: WireCall[];
      reasoning_content?: unknown;
      reasoning?: unknown;
      reasoning_details?: unknown;
    };

export type WireCall = {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
};

/** The result of a call that has none. */
const INTERRUPTED = 'The call was interrupted.';
/** Stands between results of tools and a user's message: several servers refuse a message of the user there. */
const NO_REPLY = 'The turn ended without a reply.';

/** Of an answer without calls, as most are. It stays empty. */
const NO_RESULTS = new Map<string, string[]>();

type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>;

/**
 * Writes a history as the messages of a request. Whatever the history is, the request satisfies what strict servers and
 * chat templates require: after the system message, a user's message and the model's messages alternate; each tool call
 * has exactly one result, directly behind its message; no two calls share an id; no message of the model is empty; all
 * arguments are JSON objects.
 */
export function writeMessages(
  history: readonly ModelMessage[],
  { reasoning }: Pick<RequestForm, 'reasoning'>,
): WireMessage[] {
  const written: WireMessage[] = [];
  const ids = uniqueIds();
  let at = 0;
  for (; history[at]?.role === 'system'; at += 1) written.push(...systemMessage(history[at]));
  // A conversation begins with its user.
  while (at < history.length && history[at]?.role !== 'user') at += 1;
  while (at < history.length) {
    const message = history[at];
    at += 1;
    if (message?.role === 'user') addUser(written, message.content);
    if (message?.role !== 'assistant') continue;
    const results = history[at]?.role === 'tool' ? new Map<string, string[]>() : NO_RESULTS;
    for (let next = history[at]; next?.role === 'tool'; next = history[at]) {
      const ofCall = results.get(next.toolCallId);
      if (ofCall) ofCall.push(next.content);
      else results.set(next.toolCallId, [next.content]);
      at += 1;
    }
    addAssistant(written, message, results, { ids, reasoning });
  }
  return written;
}

function systemMessage(message: ModelMessage | undefined): WireMessage[] {
  return message?.role === 'system' && message.content !== ''
    ? [{ role: 'system', content: message.content }]
    : [];
}

function addUser(written: WireMessage[], content: string): void {
  const last = written.at(-1);
  if (last?.role === 'user') last.content = joined(last.content, content);
  else {
    if (last?.role === 'tool') written.push({ role: 'assistant', content: NO_REPLY });
    written.push({ role: 'user', content });
  }
}

function addAssistant(
  written: WireMessage[],
  message: AssistantMessage,
  results: ReadonlyMap<string, string[]>,
  { ids, reasoning }: Pick<RequestForm, 'reasoning'> & { ids: ReturnType<typeof uniqueIds> },
): void {
  const { content, toolCalls } = message;
  if (content === '' && toolCalls.length === 0) return;
  const calls = toolCalls.map((call) => ({ call, id: ids.next(call.id) }));
  const last = written.at(-1);
  const isContinued = last?.role === 'assistant';
  const text = isContinued ? joined(last.content ?? '', content) : content;
  if (isContinued) written.pop();
  written.push({
    role: 'assistant',
    content: text === '' ? null : text,
    ...(calls.length > 0 && { tool_calls: calls.map(({ call, id }) => writeCall(call, id)) }),
    ...reasoningOf(message, reasoning),
  });
  for (const { call, id } of calls) {
    const content = results.get(call.id)?.shift() ?? INTERRUPTED;
    written.push({ role: 'tool', content, tool_call_id: id });
  }
}

/** Makes ids unique: two turns may use the same one, because the server or Parley numbers the calls of each answer. */
function uniqueIds() {
  const uses = new Map<string, number>();
  return {
    next(id: string): string {
      const base = id || 'call';
      for (;;) {
        const use = (uses.get(base) ?? 0) + 1;
        uses.set(base, use);
        const unique = use === 1 ? base : `${base}_${use}`;
        if (use === 1 || !uses.has(unique)) {
          uses.set(unique, Math.max(uses.get(unique) ?? 0, 1));
          return unique;
        }
      }
    },
  };
}

function writeCall({ name, arguments: text, extra }: ToolCall, id: string): WireCall {
  return {
    // The call's own members win.
    ...objectOrEmpty(extra === undefined ? undefined : parseOrNone(extra)),
    id,
    type: 'function',
    function: { name, arguments: readArguments(text) ?? '{}' },
  };
}

function reasoningOf(
  { reasoning }: AssistantMessage,
  form: RequestForm['reasoning'],
): JsonObject | undefined {
  if (form === 'none') return undefined;
  return form === 'always' ? { reasoning_content: '', ...reasoning } : reasoning;
}

/** Concatenates two texts. `Array.join` would copy the first one, and take quadratic time for many messages. */
function joined(text: string, next: string): string {
  return text !== '' && next !== '' ? `${text}\n\n${next}` : text + next;
}
