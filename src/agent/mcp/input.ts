import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.ts';

/** Where in a schema names are no keywords, and what is there no schema. */
const DATA = ['const', 'default', 'enum', 'examples'];

/**
 * Checks input as a server's JSON Schema describes it, as far as that is safe and can be done here; the server
 * checks all of it. It is a stranger's schema: regular expressions are not run, for one can be made to run for
 * ever, and neither are references followed, nor types that multiply what is to be checked.
 */
export function inputCheckOf(inputSchema: JsonObject): z.ZodType<JsonObject> {
  const object = z.custom<JsonObject>(isJsonObject, { error: 'must be an object', abort: true });
  const safe = simplify(inputSchema);
  if (safe === undefined) return object;
  let schema: z.ZodType;
  try {
    schema = z.fromJSONSchema(safe);
  } catch {
    return object;
  }
  // The input goes to the server as it came, without defaults of ours.
  return object.superRefine((input, context) => {
    for (const { path, message } of schema.safeParse(input).error?.issues ?? [])
      context.addIssue({ code: 'custom', path, message });
  });
}

/** The schema without the texts that are run; none where it is not to be checked at all. */
function simplify(schema: JsonObject): JsonObject | undefined {
  const simple: JsonObject = {};
  for (const [name, value] of Object.entries(schema)) {
    // A property may be called as a keyword is: then an object stands here, not a text.
    if ((name === 'pattern' || name === 'format') && typeof value === 'string') continue;
    if (isMultiplying(name, value)) return undefined;
    const inner = DATA.includes(name) ? value : simplifyValue(value);
    if (inner === undefined) return undefined;
    simple[name] = inner;
  }
  return simple;
}

function simplifyValue(value: JsonValue): JsonValue | undefined {
  if (!Array.isArray(value)) return isJsonObject(value) ? simplify(value) : value;
  const items = value.map(simplifyValue);
  return items.every((item) => item !== undefined) ? items : undefined;
}

function isMultiplying(name: string, value: JsonValue): boolean {
  if (name === '$ref' || name === '$dynamicRef') return typeof value === 'string';
  if (name === 'type' && Array.isArray(value))
    return value.length > 7 || value.includes('object') || value.includes('array');
  return name === 'patternProperties';
}
