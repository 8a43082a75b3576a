import { z } from 'zod';
import { isStorable } from './characters.ts';

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export type JsonObject = { [key: string]: JsonValue };

const MAX_DEPTH = 32;

/** Members of objects and entries of lists, on all levels together. */
const MAX_MEMBERS = 10_000;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A `JSON.stringify` replacer that sorts the members of objects by name. */
export function sortMembers(_name: string, value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Runs a rule on every object, even if an earlier rule failed, and skips values that are not objects. */
export const ofObject = { when: ({ value }: { value: unknown }) => isJsonObject(value) };

/**
 * A JSON object from the client, such as `context`: at most 32 levels deep, with at most 10,000 members and entries, and
 * storable text only.
 */
export const jsonObject = z
  // `abort` would also skip the rules of the enclosing object.
  .custom<JsonObject>(isJsonObject, { error: 'must be an object', abort: false })
  .superRefine((object, context) => {
    const problem = problemOf(object);
    if (problem) context.addIssue(problem);
  }, ofObject);

/** The first problem of a value, in one pass that reads at most `MAX_MEMBERS` values. */
function problemOf(object: JsonObject): string | undefined {
  let members = 0;
  let level: JsonValue[] = [object];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return `must not be nested deeper than ${MAX_DEPTH} levels`;
    const deeper: JsonValue[] = [];
    for (const value of level) {
      if (typeof value !== 'object' || value === null) {
        if (typeof value === 'string' && !isStorable(value)) return NOT_STORABLE;
        continue;
      }
      const keys = Array.isArray(value) ? [] : Object.keys(value);
      members += Array.isArray(value) ? value.length : keys.length;
      if (members > MAX_MEMBERS) return TOO_MANY;
      if (!keys.every(isStorable)) return NOT_STORABLE;
      for (const member of Array.isArray(value) ? value : Object.values(value)) deeper.push(member);
    }
    level = deeper;
  }
  return undefined;
}

const TOO_MANY = `must not have more than ${MAX_MEMBERS.toLocaleString('en')} members and entries`;
const NOT_STORABLE = 'must not hold U+0000 or halves of surrogate pairs';

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
