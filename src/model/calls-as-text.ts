import type { ModelMessage, ToolCall } from './model.ts';

/**
 * Writes the tool calls of a history, and their results, as text: some servers refuse both in a request without tools,
 * and refuse the tools if the model may not call them. A result without its call is dropped.
 */
export function callsAsText(history: readonly ModelMessage[]): ModelMessage[] {
  const names = new Map<string, string>();
  return history.flatMap((message): ModelMessage[] => {
    if (message.role === 'assistant') {
      const { role, content, toolCalls } = message;
      for (const { id, name } of toolCalls) names.set(id, name);
      const parts = [content, ...toolCalls.map(callText)].filter((part) => part !== '');
      return [{ role, content: parts.join('\n\n'), toolCalls: [] }];
    }
    if (message.role !== 'tool') return [message];
    const { toolCallId, content } = message;
    const name = names.get(toolCallId);
    return name === undefined
      ? []
      : [{ role: 'user', content: `Result of the tool ${name}: ${content}` }];
  });
}

function callText({ name, arguments: text }: ToolCall): string {
  return `Call of the tool ${name}: ${text}`;
}
