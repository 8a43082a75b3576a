import type { Field, FieldType, ScalarName } from '../../language/definition.ts';
import type { JsonObject } from '../../text/json.ts';

/**
 * Converts the declared input of a capability, or a declared output, to JSON Schema, for the model and for validation. The
 * schema rejects undeclared fields. Validation converts no values.
 */
export function schemaOfFields(fields: Field[]): JsonObject {
  const properties = fields.map(({ name, type, description }): [string, JsonObject] => [
    name,
    { ...schemaOfType(type), ...(description !== undefined && { description }) },
  ]);
  const required = fields.filter(({ optional }) => !optional).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

const SCALARS: Record<ScalarName, JsonObject> = {
  string: { type: 'string' },
  number: { type: 'number' },
  integer: {
    type: 'integer',
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
  },
  boolean: { type: 'boolean' },
};

function schemaOfType(type: FieldType): JsonObject {
  if (type.kind === 'choice') return { type: 'string', enum: type.choices };
  const scalar = SCALARS[type.kind];
  return type.list ? { type: 'array', items: scalar } : scalar;
}
