import { z } from 'zod';

/** A schema of the OpenAPI document, as far as the document uses JSON Schema. */
export type Schema = {
  $ref?: string | undefined;
  const?: unknown;
  enum?: unknown[] | undefined;
  anyOf?: Schema[] | undefined;
  type?: string | string[] | undefined;
  items?: Schema | undefined;
  properties?: Record<string, Schema> | undefined;
  required?: string[] | undefined;
  additionalProperties?: boolean | Schema | undefined;
};

const schema: z.ZodType<Schema> = z.lazy(() =>
  z.object({
    $ref: z.string().optional(),
    const: z.unknown().optional(),
    enum: z.array(z.unknown()).optional(),
    anyOf: z.array(schema).optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    items: schema.optional(),
    properties: z.record(z.string(), schema).optional(),
    required: z.array(z.string()).optional(),
    additionalProperties: z.union([z.boolean(), schema]).optional(),
  }),
);
const content = z.record(z.string(), z.object({ schema }));
const operation = z.object({
  operationId: z.string(),
  parameters: z
    .array(
      z.union([
        z.object({
          in: z.enum(['path', 'query', 'header']),
          name: z.string(),
          required: z.boolean().default(false),
          schema,
        }),
        z.object({ $ref: z.string() }),
      ]),
    )
    .default([]),
  requestBody: z.object({ content }).optional(),
  responses: z.record(z.string(), z.object({ content: content.optional() })),
});
const openApi = z.object({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({ schemas: z.record(z.string(), schema) }),
});

export type WireDocument = {
  operations: z.infer<typeof operation>[];
  schemas: Record<string, Schema>;
};

export function readWireDocument(document: unknown): WireDocument {
  const { paths, components } = openApi.parse(document);
  return {
    operations: Object.values(paths).flatMap((methods) => Object.values(methods)),
    schemas: components.schemas,
  };
}

export type TypeOptions = {
  /** A member that each object gets in addition. */
  added?: string;
  /** Members that the client calls by other names. */
  names?: Record<string, string>;
};

export const camelCase = (name: string) =>
  name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());

/** The TypeScript type of a schema, with members in camelCase. */
export function typeOf(document: WireDocument, given: Schema, options: TypeOptions = {}): string {
  const { added, names = {} } = options;
  const inner = (one: Schema) => typeOf(document, one, options);
  if (given.$ref) return inner(resolve(document, given));
  if (given.const !== undefined) return JSON.stringify(given.const);
  if (given.enum) return given.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (given.anyOf) return given.anyOf.map((one) => `(${inner(one)})`).join(' | ');
  if (Array.isArray(given.type))
    return given.type.map((type) => `(${inner({ ...given, type })})`).join(' | ');
  switch (given.type) {
    case 'array':
      return `(${given.items ? inner(given.items) : 'unknown'})[]`;
    case 'integer':
      return 'number';
    case 'object': {
      const { properties, required = [], additionalProperties } = given;
      if (!properties) {
        const isAny = typeof additionalProperties !== 'object' || !additionalProperties.type;
        return `Record<string, ${isAny ? 'unknown' : inner(additionalProperties)}>`;
      }
      const members = Object.entries(properties).map(([name, member]) => {
        const mark = required.includes(name) ? '' : '?';
        return `${names[name] ?? camelCase(name)}${mark}: ${inner(member)}`;
      });
      return `{ ${[...members, ...(added ? [`${added}?: string`] : [])].join('; ')} }`;
    }
    default:
      if (given.type === undefined) throw new Error(`No type: ${JSON.stringify(given)}`);
      return given.type;
  }
}

export function resolve({ schemas }: WireDocument, given: Schema): Schema {
  const name = given.$ref?.split('/').at(-1);
  if (name === undefined) return given;
  const found = schemas[name];
  if (!found) throw new Error(`There is no schema ${name}.`);
  return found;
}

/** The schema without some members. @throws Error if it lacks one of them. */
export function without(document: WireDocument, given: Schema, names: string[]): Schema {
  const { properties = {}, ...rest } = resolve(document, given);
  const missing = names.filter((name) => !(name in properties));
  if (missing.length > 0) throw new Error(`The schema has no ${missing.join(', ')}.`);
  const kept = Object.entries(properties).filter(([name]) => !names.includes(name));
  return { ...rest, properties: Object.fromEntries(kept) };
}
