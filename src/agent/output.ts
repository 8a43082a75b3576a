import { type JsonObject, jsonObjectUpTo, jsonText } from '../text/json.ts';
import { limitError } from './tools/answer.ts';
import { problemsOf } from './tools/schema-check.ts';

/** A structured reply, or the description of its error for the model. */
export type ReadOutput = { output: JsonObject; text: string } | { problem: string };

/** An object that GraphQL and the database can hold: at most 64 KiB and 32 levels. */
const outputText = jsonText.pipe(jsonObjectUpTo(64));

/** Models without `response_format` often put JSON into a fenced block of Markdown. */
const FENCE = /^```(?:json)?\s*\n/;
const FENCE_END = '\n```';

/** Reads a model's answer as an object that fits a JSON Schema. `text` is its JSON as the model wrote it. */
export function readOutput(schema: JsonObject, answer: string): ReadOutput {
  const text = withoutFence(answer.trim());
  const parsed = outputText.safeParse(text);
  const problems = parsed.success
    ? problemsOf(schema, parsed.data)
    : parsed.error.issues.map(({ message }) => message);
  if (parsed.success && problems.length === 0) return { output: parsed.data, text };
  return { problem: limitError(problems.join('; ')) };
}

/** The end is no part of the pattern, which would search for it after each line break of a long answer. */
function withoutFence(text: string): string {
  const [fence] = FENCE.exec(text) ?? [];
  if (fence === undefined || !text.endsWith(FENCE_END)) return text;
  return text.slice(fence.length, -FENCE_END.length);
}

/** The part of the system prompt that requests a structured reply, also from models without `response_format`. */
export function outputInstructions(schema: JsonObject): string {
  return `\n\nAnswer with one JSON object and nothing else. It must fit this JSON Schema:\n${JSON.stringify(schema)}`;
}

/** The message that requests a corrected reply from the model. */
export function repairRequest(problem: string): string {
  return `Your answer is not valid: ${problem}. Answer again with one JSON object that fits the JSON Schema, and nothing else.`;
}
