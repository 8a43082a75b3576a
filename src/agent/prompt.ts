import type { JsonObject } from '../json.ts';
import type { Definition } from '../language/definition.ts';
import { lookupIn, renderTemplate } from '../language/template.ts';
import type { ModelMessage } from '../model/model.ts';
import type { HistoryMessage } from '../sessions/history.ts';
import type { Facts } from '../sessions/memory.ts';

/** What one call of the model is made of. */
export type PromptParts = {
  definition: Definition;
  sessionId: string;
  now: Date;
  history: HistoryMessage[];
  /** What the bot keeps of the user. */
  memory: Facts;
  /** The caller's `context`. */
  context: JsonObject | undefined;
  message: string;
};

/**
 * What the model gets: the definition's prompt with its values in place, and at its end what the bot keeps of the
 * user and the caller's `context`, which wins where both have a key; the history; and the message. The same parts
 * always give the same text.
 */
export function assemblePrompt({
  definition,
  sessionId,
  now,
  history,
  memory,
  context = {},
  message,
}: PromptParts): ModelMessage[] {
  const values = { context, memory, session: { id: sessionId }, now: now.toISOString() };
  const kept = Object.fromEntries(
    Object.entries(memory).filter(([name]) => !Object.hasOwn(context, name)),
  );
  const { text } = renderTemplate(definition.prompt, lookupIn(values));
  return [
    { role: 'system', content: text + delimited('memory', kept) + delimited('context', context) },
    ...history.map(toModelMessage),
    { role: 'user', content: message },
  ];
}

function toModelMessage({ role, text }: HistoryMessage): ModelMessage {
  switch (role) {
    case 'USER':
      return { role: 'user', content: text };
    case 'ASSISTANT':
      return { role: 'assistant', content: text };
    case 'TOOL':
      throw new Error('No turn has stored the answer of a tool yet.');
  }
}

/** JSON between tags. A `<` inside it is escaped, so that no value can close the tag. */
function delimited(tag: string, value: JsonObject): string {
  if (Object.keys(value).length === 0) return '';
  return `\n\n<${tag}>\n${JSON.stringify(value).replaceAll('<', '\\u003c')}\n</${tag}>`;
}
