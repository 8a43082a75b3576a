import { z } from 'zod';
import type { Redactor } from '../../redaction/redact.ts';
import type { ToolEffect } from '../../runs/tool-calls/tool-call.ts';
import { isStorable, toStorable } from '../../text/characters.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonObject,
  ofObject,
} from '../../text/json.ts';

/** A tool that a server lists, redacted and limited in size. */
export type ListedTool = {
  /** The server's name of the tool. */
  name: string;
  description: string;
  /** A JSON Schema of an object, as JSON text: listings are cached, and text takes a fraction of the memory. */
  inputSchema: string;
  /** What a call may do, as the server's annotations declare it. Without them, it may change something. */
  effect: ToolEffect;
};

/** The tools of a server, within the limits. */
export type Listing = {
  /** In the server's order, each name once. */
  tools: ListedTool[];
  /** How many listed tools are omitted because they exceed a limit or are invalid. Unread pages are not counted. */
  leftOut: number;
};

/** One page of `tools/list`. Entries are checked one by one, so that an invalid tool does not reject the page. */
export const toolPage = z.object({
  tools: z.array(z.unknown()),
  nextCursor: z.string().nullish(),
});

const MAX_NAME = 128;
const MAX_DESCRIPTION = 8 * 1024;
const MAX_SCHEMA = 16 * 1024;
/** Entries read of a listing. */
const MAX_ENTRIES = 1_000;

function isSmall(schema: JsonObject): boolean {
  try {
    return JSON.stringify(schema).length <= MAX_SCHEMA;
  } catch {
    // The schema is nested too deeply for `JSON.stringify`.
    return false;
  }
}

const annotations = z.object({ readOnlyHint: z.unknown(), idempotentHint: z.unknown() }).partial();

const toolEntry = z.object({
  name: z.string().min(1).max(MAX_NAME).refine(isStorable),
  description: z.string().nullish(),
  inputSchema: jsonObject.refine((schema) => schema.type === 'object' && isSmall(schema), ofObject),
  annotations: annotations.nullish().catch(undefined),
});

/**
 * Collects the tools of a listing, page by page.
 *
 * @param limit how many tools to keep.
 * @param only names of the tools to keep; all by default.
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
    /** Whether further pages cannot change the kept tools. */
    isFull: () => tools.size === Math.min(limit, wanted?.size ?? limit) || entries === MAX_ENTRIES,
    listing: (): Listing => ({ tools: [...tools.values()], leftOut }),
  };
}

/** Reads one entry of a listing. @returns undefined if the entry is invalid. */
function readTool(entry: unknown, redactor: Redactor): ListedTool | undefined {
  const { data } = toolEntry.safeParse(entry);
  // A redacted name could not be called at the server.
  if (!data || redactor.redact(data.name) !== data.name) return undefined;
  const { name, description, annotations } = data;
  const { $schema: _, ...schema } = data.inputSchema;
  return {
    name,
    description: toStorable(redactor.redact(description ?? '').slice(0, MAX_DESCRIPTION)),
    inputSchema: JSON.stringify(mapObject(schema, (text) => redactor.redact(text))),
    effect: effectOf(annotations ?? {}),
  };
}

/** Source: MCP, "ToolAnnotations". */
function effectOf({ readOnlyHint, idempotentHint }: z.infer<typeof annotations>): ToolEffect {
  if (readOnlyHint === true) return 'reads';
  return idempotentHint === true ? 'repeatable' : 'changes';
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
