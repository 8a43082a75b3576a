import { isJsonObject, type JsonObject } from '../text/json.ts';

/** The value if it is a string. Servers may send anything. */
export function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

const NO_MEMBERS: JsonObject = {};

/** The value if it is an object, else an object without members. */
export function objectOrEmpty(value: unknown): JsonObject {
  return isJsonObject(value) ? value : NO_MEMBERS;
}

/** Parses text that may be no JSON. */
export function parseOrNone(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
