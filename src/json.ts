import { z } from 'zod';
import { isStorable } from './text.ts';

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export type JsonObject = { [key: string]: JsonValue };

const MAX_DEPTH = 32;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Runs a rule on every object, even if an earlier rule failed, and skips values that are not objects. */
export const ofObject = { when: ({ value }: { value: unknown }) => isJsonObject(value) };

/** A JSON object from the client, such as `context`: at most 32 levels deep, with storable text only. */
export const jsonObject = z
  // `abort` would also skip the rules of the enclosing object.
  .custom<JsonObject>(isJsonObject, { error: 'must be an object', abort: false })
  .superRefine((object, context) => {
    let level: JsonValue[] = [object];
    for (let depth = 0; level.length > 0; depth += 1) {
      if (depth > MAX_DEPTH) {
        context.addIssue(`must not be nested deeper than ${MAX_DEPTH} levels`);
        return;
      }
      if (!level.every((value) => typeof value !== 'string' || isStorable(value))) {
        context.addIssue('must not hold U+0000 or halves of surrogate pairs');
        return;
      }
      level = level.flatMap((value) => {
        if (typeof value !== 'object' || value === null) return [];
        return Array.isArray(value) ? value : Object.entries(value).flat();
      });
    }
  }, ofObject);

/** A JSON object with a maximum size, measured as JSON in UTF-8. An object that is nested too deeply is not measured. */
export function jsonObjectUpTo(kibibytes: number) {
  return jsonObject.superRefine((object, context) => {
    if (context.issues.length > 0) return;
    if (Buffer.byteLength(JSON.stringify(object)) > kibibytes * 1024)
      context.addIssue(`must not be larger than ${kibibytes} KiB`);
  }, ofObject);
}

/** Parses a string of JSON. */
export const jsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue('must be JSON');
    return z.NEVER;
  }
});
