import { z } from 'zod';

const examples = z.object({ examples: z.tuple([z.unknown()], z.unknown()) });

/**
 * Builds an example body from the first example of each field, or else from the first value that its schema allows.
 * Optional fields without an example are omitted.
 */
export function exampleOf(schema: unknown): unknown {
  if (!(schema instanceof z.ZodType)) return undefined;
  const given = examples.safeParse(schema.meta()).data;
  if (given) return given.examples[0];
  if (schema instanceof z.ZodDefault) return exampleOfDefault(schema.unwrap());
  if (schema instanceof z.ZodArray) return [exampleOf(schema.element)];
  if (schema instanceof z.ZodEnum) return schema.options[0];
  if (schema instanceof z.ZodLiteral) return schema.value;
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodNull) return null;
  if (schema instanceof z.ZodBoolean) return true;
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape).map(([name, field]) => [name, exampleOf(field)]);
    return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  }
  return undefined;
}

/** Shows an optional body, but omits an optional field. */
function exampleOfDefault(inner: unknown): unknown {
  return inner instanceof z.ZodObject ? exampleOf(inner) : undefined;
}
