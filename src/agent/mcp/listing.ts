import { z } from 'zod';
import type { Redactor } from '../../deployments/redact.ts';
import { isJsonObject, type JsonObject, type JsonValue, jsonObject, ofObject } from '../../json.ts';
import { isStorable, toStorable } from '../../text.ts';

/** A tool as a server tells of it, without secrets and within bounds. */
export type ListedTool = {
  /** The server's own name for it. */
  name: string;
  description: string;
  /** A JSON Schema of an object, as JSON: a listing is kept, and text takes a fraction of the memory. */
  inputSchema: string;
  /** Whether the server says that a call made twice does no more than one. */
  isRepeatable: boolean;
};

/** The tools of a server that are kept. */
export type Listing = {
  /** In the server's order, each name once. */
  tools: ListedTool[];
  /** How many more the server offered: beyond the limits, or broken. Those of pages that were not read are not counted. */
  leftOut: number;
};

/** One page of `tools/list`. What is wrong in one tool is no reason to do without the others. */
export const toolPage = z.object({
  tools: z.array(z.unknown()),
  nextCursor: z.string().nullish(),
});

const MAX_NAME = 128;
const MAX_DESCRIPTION = 8 * 1024;
const MAX_SCHEMA = 16 * 1024;
/** Entries of a listing that are looked at. */
const MAX_ENTRIES = 1_000;

function isSmall(schema: JsonObject): boolean {
  try {
    return JSON.stringify(schema).length <= MAX_SCHEMA;
  } catch {
    // Nested too deeply to be written.
    return false;
  }
}

const toolEntry = z.object({
  name: z.string().min(1).max(MAX_NAME).refine(isStorable),
  description: z.string().nullish(),
  inputSchema: jsonObject.refine((schema) => schema.type === 'object' && isSmall(schema), ofObject),
  annotations: z
    .object({ readOnlyHint: z.unknown(), idempotentHint: z.unknown() })
    .partial()
    .nullish()
    .catch(undefined),
});

/**
 * Collects the tools of a listing, page by page.
 *
 * @param limit how many tools are kept.
 * @param only the names of those to keep; all by default.
 */
export function collectTools(
  redactor: Redactor,
  { limit, only }: { limit: number; only: readonly string[] | undefined },
) {
  const tools = new Map<string, ListedTool>();
  const wanted = only && new Set(only);
  let entries = 0;
  let leftOut = 0;
  return {
    add(page: unknown[]) {
      for (const [index, entry] of page.entries()) {
        if (tools.size === limit || entries === MAX_ENTRIES) {
          leftOut += page.length - index;
          return;
        }
        entries += 1;
        const tool = readTool(entry, redactor);
        if (!tool) leftOut += 1;
        else if (!tools.has(tool.name) && (wanted?.has(tool.name) ?? true))
          tools.set(tool.name, tool);
      }
    },
    /** Whether no further page changes what is kept. */
    isFull: () => tools.size === Math.min(limit, wanted?.size ?? limit) || entries === MAX_ENTRIES,
    listing: (): Listing => ({ tools: [...tools.values()], leftOut }),
  };
}

/** Reads one entry of a list; none where it is no tool that a model could be told of. */
function readTool(entry: unknown, redactor: Redactor): ListedTool | undefined {
  const { data } = toolEntry.safeParse(entry);
  // What is called by a secret cannot be called.
  if (!data || redactor.redact(data.name) !== data.name) return undefined;
  const { name, description, annotations } = data;
  const { $schema: _, ...schema } = data.inputSchema;
  return {
    name,
    description: toStorable(redactor.redact(description ?? '').slice(0, MAX_DESCRIPTION)),
    inputSchema: JSON.stringify(mapObject(schema, (text) => redactor.redact(text))),
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
