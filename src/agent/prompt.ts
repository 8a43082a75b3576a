import type { JsonObject } from '../json.ts';
import type { Definition } from '../language/definition.ts';
import type { ModelMessage } from '../model/model.ts';
import type { HistoryMessage } from '../sessions/history.ts';

/**
 * What the model gets: the definition's prompt with the caller's `context` at its end, the history, and the
 * message. The same input always gives the same text.
 */
export function assemblePrompt(
  { prompt }: Definition,
  history: HistoryMessage[],
  context: JsonObject | undefined,
  message: string,
): ModelMessage[] {
  return [
    { role: 'system', content: prompt + delimited('context', context) },
    ...history.map(({ role, text }) => ({
      role: role === 'USER' ? ('user' as const) : ('assistant' as const),
      content: text,
    })),
    { role: 'user', content: message },
  ];
}

/** JSON between tags. A `<` inside it is escaped, so that no value can close the tag. */
function delimited(tag: string, value: JsonObject | undefined): string {
  if (value === undefined || Object.keys(value).length === 0) return '';
  return `\n\n<${tag}>\n${JSON.stringify(value).replaceAll('<', '\\u003c')}\n</${tag}>`;
}
