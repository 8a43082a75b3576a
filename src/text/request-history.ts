import { z } from 'zod';
import { expected, listOf, ofText, text } from './input.ts';

/** Messages that a request may send before its own. */
export const MAX_HISTORY = 500;
/** Tool calls of one message. */
export const MAX_CALLS_OF_MESSAGE = 128;
/** Characters of the id of a tool call, and of the name of its tool. */
const MAX_NAME = 256;

/** A message that a request sends before its own, with the roles of the database. */
export type RequestMessage = {
  role: 'USER' | 'ASSISTANT' | 'TOOL';
  text?: string | null | undefined;
  toolCalls?: RequestCall[] | null | undefined;
  toolCallId?: string | null | undefined;
};

/** A tool call of such a message. `arguments` is the text of a JSON object. */
export type RequestCall = { id: string; name: string; arguments: string };

/** The names of the fields in an interface, for its errors. */
export type MessageFields = { text: string; toolCalls: string; toolCallId: string };

const callName = text
  .min(1, ofText('must not be empty'))
  .max(MAX_NAME, ofText(`must not be longer than ${MAX_NAME} characters`));

/** The id of a tool call. */
export const callId = callName;

/** A tool call in the history of a request. */
export const requestCall = z.object(
  { id: callId, name: callName, arguments: text },
  expected('an object'),
);

/** The history of a request, with the names of GraphQL. */
export const requestHistory = listOf(
  z.object({
    role: z.enum(['USER', 'ASSISTANT', 'TOOL']),
    text: text.nullish(),
    toolCalls: listOf(requestCall, MAX_CALLS_OF_MESSAGE).nullish(),
    toolCallId: callId.nullish(),
  }),
  MAX_HISTORY,
).superRefine((messages, { addIssue }) => {
  const fields = { text: 'text', toolCalls: 'toolCalls', toolCallId: 'toolCallId' };
  for (const { path, message } of historyProblems(messages, fields))
    addIssue({ code: 'custom', path, message });
});

/** A problem of a history. The path begins with the number of the message. */
export type HistoryProblem = { path: (string | number)[]; message: string };

/**
 * Checks what a model's server checks, too: a tool's message answers a call of the assistant's message before it, and
 * every call has an answer.
 */
export function historyProblems(
  messages: readonly RequestMessage[],
  fields: MessageFields,
): HistoryProblem[] {
  const problems: HistoryProblem[] = [];
  const problem = (message: string, ...path: (string | number)[]) =>
    void problems.push({ path, message });
  let caller = -1;
  let open = new Set<string>();
  const settle = () => {
    if (open.size > 0) problem(`has no answer to the call ${[...open][0]}`, caller);
    open = new Set();
  };
  for (const [index, { role, text, toolCalls, toolCallId }] of messages.entries()) {
    const calls = toolCalls ?? [];
    if (role !== 'ASSISTANT' && calls.length > 0)
      problem('belongs to messages of the assistant', index, fields.toolCalls);
    if (role !== 'TOOL' && toolCallId != null)
      problem('belongs to messages of a tool', index, fields.toolCallId);
    if (role !== 'ASSISTANT' && text == null) problem('is required', index, fields.text);
    if (role === 'TOOL') {
      if (toolCallId == null) problem('is required', index, fields.toolCallId);
      else if (!open.delete(toolCallId))
        problem('answers no open call of the message before', index, fields.toolCallId);
      continue;
    }
    settle();
    caller = index;
    open = new Set(role === 'ASSISTANT' ? calls.map(({ id }) => id) : []);
  }
  settle();
  return problems;
}
