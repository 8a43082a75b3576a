import { type JsonObject, jsonObjectUpTo } from '../text/json.ts';

/** Members kept of one call, and characters of a member's name. */
const MAX_MEMBERS = 16;
const MAX_NAME = 64;

/** One member: at most 64 KiB as JSON, and 32 levels deep. */
const member = jsonObjectUpTo(64);

/** The members of a tool call that Parley reads itself. */
const KNOWN = new Set(['id', 'index', 'type', 'function']);

/**
 * Collects the members of a tool call that Parley does not know, such as the signatures of Gemini's thoughts. A later part
 * of the call replaces a member of an earlier one. A member that exceeds a limit is dropped.
 */
export function collectExtra() {
  let members: Map<string, string> | undefined;
  return {
    /** @returns the characters of the new members. */
    add(part: JsonObject): number {
      let characters = 0;
      for (const name of Object.keys(part)) {
        const value = part[name];
        if (KNOWN.has(name) || name.length > MAX_NAME || value === undefined) continue;
        const read = member.safeParse(Object.fromEntries([[name, value]]));
        if (!read.success || value === null) continue;
        const text = JSON.stringify(read.data).slice(1, -1);
        characters += text.length;
        members ??= new Map();
        if (members.size < MAX_MEMBERS || members.has(name)) members.set(name, text);
      }
      return characters;
    },

    /** The text of a JSON object; `undefined` without members. */
    text: () => members && `{${[...members.values()].join(',')}}`,
  };
}
