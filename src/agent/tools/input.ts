import { z } from 'zod';
import { expected } from '../../input.ts';
import { isJsonObject } from '../../json.ts';
import type { Field, FieldType, ScalarName } from '../../language/definition.ts';

/** What a model sent to a capability: a value for each declared field, but for optional ones. */
export type CapabilityInput = Record<string, InputValue | InputValue[] | undefined>;

export type InputValue = string | number | boolean;

/**
 * Checks input against its declaration: nothing is converted, what is not declared is refused, and all problems
 * are found at once. As JSON Schema it tells the model what the capability takes.
 */
export function inputSchemaOf(fields: Field[]): z.ZodType<CapabilityInput> {
  const shape = Object.fromEntries(
    fields.map(({ name, type, optional, description }) => {
      const value = valueSchemaOf(type);
      const described = description === undefined ? value : value.describe(description);
      return [name, optional ? described.optional() : described];
    }),
  );
  const object = z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? undefined : 'must be an object'),
  });
  // Without a prototype, for a field that is left out may be called "constructor".
  const ownOnly = (value: unknown) =>
    isJsonObject(value) ? Object.assign(Object.create(null), value) : value;
  return z.preprocess(ownOnly, object);
}

const SCALAR_SCHEMAS = {
  string: z.string(expected('a string')),
  number: z.number(expected('a number')),
  integer: z.int(expected('a whole number')),
  boolean: z.boolean(expected('true or false')),
} satisfies Record<ScalarName, z.ZodType<InputValue>>;

function valueSchemaOf(type: FieldType): z.ZodType<InputValue | InputValue[]> {
  if (type.kind === 'choice') {
    const choices = type.choices.map((choice) => JSON.stringify(choice)).join(', ');
    return z.enum(type.choices, expected(`one of ${choices}`));
  }
  const scalar = SCALAR_SCHEMAS[type.kind];
  return type.list ? z.array(scalar, expected('a list')) : scalar;
}
