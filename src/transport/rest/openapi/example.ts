import { z } from 'zod';

const examples = z.object({ examples: z.tuple([z.unknown()], z.unknown()) });

/**
 * What a body may look like: made of the first example of each of its fields, or of the first thing that the field
 * may be. A field that need not be there, and has no example, is left out.
 */
export function exampleOf(schema: unknown): unknown {
  if (!(schema instanceof z.ZodType)) return undefined;
  const given = examples.safeParse(schema.meta()).data;
  if (given) return given.examples[0];
  if (schema instanceof z.ZodDefault) return exampleOfDefault(schema.unwrap());
  if (schema instanceof z.ZodArray) return [exampleOf(schema.element)];
  if (schema instanceof z.ZodEnum) return schema.options[0];
  if (schema instanceof z.ZodNullable) return null;
  if (schema instanceof z.ZodBoolean) return true;
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape).map(([name, field]) => [name, exampleOf(field)]);
    return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  }
  return undefined;
}

/** A body that need not be sent is shown all the same; a field that need not be is not. */
function exampleOfDefault(inner: unknown): unknown {
  return inner instanceof z.ZodObject ? exampleOf(inner) : undefined;
}
