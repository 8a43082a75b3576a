import { z } from 'zod';
import type { Redactor } from '../../deployments/redact.ts';
import { isJsonObject, type JsonObject, type JsonValue, jsonObject, ofObject } from '../../json.ts';
import { isStorable, toStorable } from '../../text.ts';

/** A tool as a server tells of it, without secrets and within bounds. */
export type ListedTool = {
  /** The server's own name for it. */
  name: string;
  description: string;
  /** A JSON Schema of an object. */
  inputSchema: JsonObject;
  /** Whether the server says that a call made twice does no more than one. */
  isRepeatable: boolean;
};

/** One page of `tools/list`. What is wrong in one tool is no reason to do without the others. */
export const toolPage = z.object({
  tools: z.array(z.unknown()),
  nextCursor: z.string().nullish(),
});

const MAX_NAME = 128;
const MAX_DESCRIPTION = 8 * 1024;
const MAX_SCHEMA = 16 * 1024;

const toolEntry = z.object({
  name: z.string().min(1).max(MAX_NAME).refine(isStorable),
  description: z.string().nullish(),
  inputSchema: jsonObject.refine(
    (schema) => schema.type === 'object' && JSON.stringify(schema).length <= MAX_SCHEMA,
    ofObject,
  ),
  annotations: z
    .object({ readOnlyHint: z.unknown(), idempotentHint: z.unknown() })
    .partial()
    .nullish()
    .catch(undefined),
});

/** Reads one entry of a list; none where it is no tool that a model could be told of. */
export function readTool(entry: unknown, redactor: Redactor): ListedTool | undefined {
  const { data } = toolEntry.safeParse(entry);
  // What is called by a secret cannot be called.
  if (!data || redactor.redact(data.name) !== data.name) return undefined;
  const { name, description, annotations } = data;
  const { $schema: _, ...schema } = data.inputSchema;
  return {
    name,
    description: toStorable(redactor.redact(description ?? '').slice(0, MAX_DESCRIPTION)),
    inputSchema: mapObject(schema, (text) => redactor.redact(text)),
    isRepeatable: annotations?.readOnlyHint === true || annotations?.idempotentHint === true,
  };
}

function mapObject(object: JsonObject, map: (text: string) => string): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [map(name), mapTexts(value, map)]),
  );
}

function mapTexts(value: JsonValue, map: (text: string) => string): JsonValue {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, map));
  return isJsonObject(value) ? mapObject(value, map) : value;
}
