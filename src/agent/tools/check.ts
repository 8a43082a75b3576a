import { z } from 'zod';
import type { JsonObject } from '../../text/json.ts';
import { limitError } from './answer.ts';
import { ToolError } from './tool.ts';

/** Converts a tool's input schema to JSON Schema, for the model. */
export function jsonSchemaOf(schema: z.ZodType): JsonObject {
  const { $schema: _, ...jsonSchema } = z.toJSONSchema(schema);
  return JSON.parse(JSON.stringify(jsonSchema));
}

/** Validates the model's input. @throws ToolError with every problem, 2 KiB at most. */
export function checkInput<Output>(schema: z.ZodType<Output>, input: unknown): Output {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) =>
    path.length > 0 ? `${path.join('.')}: ${message}` : message,
  );
  throw new ToolError(limitError(`The input is not valid. ${problems.join('; ')}`), {
    type: 'invalid_arguments',
  });
}
