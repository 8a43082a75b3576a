import { GatewayError } from '../errors/errors.ts';
import type { Definition } from '../language/definition.ts';
import { lookupIn, renderTemplate, TextLimitError } from '../language/template.ts';
import type { ModelMessage } from '../model/model.ts';
import { type HistoryMessage, latestThatFit } from '../sessions/history.ts';
import type { Facts } from '../sessions/memory.ts';
import type { JsonObject } from '../text/json.ts';
import { outputInstructions } from './output.ts';
import type { Toolbox } from './toolbox.ts';

/** The values that the prompt's templates can use. */
export type PromptValues = {
  /** From the caller. */
  context: JsonObject;
  /** Saved facts about the user. */
  memory: Facts;
  session: { id?: string };
  /** ISO 8601. */
  now: string;
};

/** The parts of the system prompt. An absent part is empty. */
export type SystemPrompt = {
  /** The rendered template of the definition. */
  prompt: string;
  /** The request for a structured reply. */
  output: string;
  memory: string;
  context: string;
};

/** The messages of the first model call. */
export type Prompt = {
  messages: ModelMessage[];
  /** The rendered template of the definition. */
  rendered: string;
  /** How many messages are history. */
  historyLength: number;
  /** Dotted paths of template values that were missing. */
  missing: string[];
};

/** The input of the first model call. */
export type PromptParts = {
  definition: Definition;
  values: PromptValues;
  history: HistoryMessage[];
  message: string;
  toolbox: Toolbox;
  /** The JSON Schema of a structured reply. */
  outputSchema: JsonObject | undefined;
};

/** The size limit of the first model call: 4 MiB. */
const MAX_PROMPT_BYTES = 4 * 1024 * 1024;

/**
 * Assembles the messages of the first model call: the system prompt, the latest history that fits, and the message. The
 * system prompt ends with the saved facts and the caller's `context`; `context` wins if both have the same key. Equal
 * input gives equal text.
 *
 * @throws GatewayError `invalid_request` if the prompt alone, or the prompt with memory, context and message, is too long.
 */
export function assemblePrompt({
  definition,
  values,
  history,
  message,
  toolbox,
  outputSchema,
}: PromptParts): Prompt {
  const { missing, ...parts } = systemPrompt(definition, values, outputSchema);
  const system = parts.prompt + parts.output + parts.memory + parts.context;
  const left = MAX_PROMPT_BYTES - Buffer.byteLength(system) - Buffer.byteLength(message);
  if (left < 0) {
    throw new GatewayError(
      'invalid_request',
      `The prompt with memory and context, and the message, are larger than ${MAX_PROMPT_BYTES} bytes: send less context, or a shorter message.`,
    );
  }
  const sent = latestThatFit(history, left);
  const messages: ModelMessage[] = [
    { role: 'system', content: system },
    ...sent.map((past) => toModelMessage(past, toolbox)),
    { role: 'user', content: message },
  ];
  return { messages, rendered: parts.prompt, historyLength: sent.length, missing };
}

/**
 * Assembles the system prompt in its parts, in the order in which they are sent.
 *
 * @throws GatewayError `invalid_request` if the rendered prompt is too long.
 */
export function systemPrompt(
  definition: Pick<Definition, 'prompt'>,
  values: PromptValues,
  outputSchema: JsonObject | undefined,
): SystemPrompt & Pick<Prompt, 'missing'> {
  const { context, memory } = values;
  const kept = Object.fromEntries(
    Object.entries(memory).filter(([name]) => !Object.hasOwn(context, name)),
  );
  const { text, missing } = renderPrompt(definition, values);
  return {
    prompt: text,
    output: outputSchema ? outputInstructions(outputSchema) : '',
    memory: delimited('memory', kept),
    context: delimited('context', context),
    missing,
  };
}

function renderPrompt({ prompt }: Pick<Definition, 'prompt'>, values: PromptValues) {
  try {
    return renderTemplate(prompt, lookupIn(values));
  } catch (error) {
    if (!(error instanceof TextLimitError)) throw error;
    const message = `The prompt ${error.message}: send less context, or place it less often.`;
    throw new GatewayError('invalid_request', message);
  }
}

function toModelMessage(past: HistoryMessage, { wireNameOf }: Toolbox): ModelMessage {
  switch (past.role) {
    case 'USER':
    // Many servers accept a system message only at the beginning.
    case 'SYSTEM':
      return { role: 'user', content: past.text };
    case 'ASSISTANT': {
      const toolCalls = past.toolCalls.map((call) => ({ ...call, name: wireNameOf(call.name) }));
      return { role: 'assistant', content: past.text, toolCalls };
    }
    case 'TOOL':
      return { role: 'tool', content: past.text, toolCallId: past.toolCallId };
  }
}

/** Writes JSON between tags. It escapes `<`, so that no value can close the tag. */
function delimited(tag: string, value: JsonObject): string {
  if (Object.keys(value).length === 0) return '';
  return `\n\n<${tag}>\n${JSON.stringify(value).replaceAll('<', '\\u003c')}\n</${tag}>`;
}
