import type { JsonObject } from '../text/json.ts';
import type { Usage } from './model.ts';
import { objectOrEmpty } from './wire.ts';

/** The largest count that the API and the database can hold. */
const MAX_COUNT = 2 ** 31 - 1;

/**
 * Reads the usage of a chunk: its own, the usage of its choice (Moonshot), or the usage in `x_groq`. An invalid count is 0.
 *
 * @returns `undefined` without any tokens.
 */
export function readUsage(chunk: JsonObject, choice: JsonObject): Usage | undefined {
  const found = chunk.usage ?? choice.usage ?? objectOrEmpty(chunk.x_groq).usage;
  if (found === undefined || found === null) return undefined;
  const usage = objectOrEmpty(found);
  const promptTokens = readCount(usage.prompt_tokens) ?? 0;
  const completionTokens = readCount(usage.completion_tokens) ?? 0;
  if (promptTokens + completionTokens === 0) return undefined;
  return {
    promptTokens,
    completionTokens,
    cachedTokens: readCount(objectOrEmpty(usage.prompt_tokens_details).cached_tokens),
    reasoningTokens: readCount(objectOrEmpty(usage.completion_tokens_details).reasoning_tokens),
  };
}

function readCount(value: unknown): number | undefined {
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined;
  return value >= 0 && value <= MAX_COUNT ? value : undefined;
}
