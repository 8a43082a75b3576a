import { readArguments } from '../../model/arguments.ts';
import { isJsonObject, type JsonValue } from '../../text/json.ts';
import { ToolError } from './tool.ts';

const MAX_BYTES = 64 * 1024;
const MAX_ELEMENTS = 1_000;
const MAX_DEPTH = 32;

/** Whether a call's arguments are within the limit of 64 KiB. */
export function fitsArguments(text: string): boolean {
  return Buffer.byteLength(text) <= MAX_BYTES;
}

/**
 * Parses a call's arguments, as a model server sent them.
 *
 * @throws ToolError if the text exceeds 64 KiB or is not JSON, if a list or an object has more than 1,000 elements, or
 *   if values are nested deeper than 32 levels.
 */
export function parseArguments(text: string): JsonValue {
  if (!fitsArguments(text)) throw invalid('The arguments are larger than 64 KiB.');
  const value = parse(text);
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH)
      throw invalid(`The arguments are nested deeper than ${MAX_DEPTH} levels.`);
    level = level.flatMap(elementsOf);
  }
  return value;
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(readArguments(text) ?? text);
  } catch {
    throw invalid('The arguments are not valid JSON.');
  }
}

function elementsOf(value: JsonValue): JsonValue[] {
  const elements = isJsonObject(value) ? Object.values(value) : Array.isArray(value) ? value : [];
  if (elements.length <= MAX_ELEMENTS) return elements;
  throw invalid(`The arguments have a list or an object of more than ${MAX_ELEMENTS} elements.`);
}

function invalid(message: string): ToolError {
  return new ToolError(message, { type: 'invalid_arguments' });
}
