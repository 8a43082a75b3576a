import { z } from 'zod';

/** The subset of JSON Schema that the page shows. */
export type Schema = z.infer<typeof schema>;
const schema = z.object({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  format: z.string().optional(),
  examples: z.array(z.unknown()).optional(),
  required: z.array(z.string()).default([]),
  get properties() {
    return z.record(z.string(), schema).optional();
  },
  get items() {
    return schema.optional();
  },
  get anyOf() {
    return z.array(schema).optional();
  },
  get contentSchema() {
    return schema.optional();
  },
});

const parameter = z.object({
  in: z.enum(['path', 'query', 'header']),
  name: z.string(),
  description: z.string().default(''),
  required: z.boolean().default(false),
  example: z.unknown().optional(),
  schema,
});

const media = z.object({
  schema,
  example: z.unknown().optional(),
  examples: z.record(z.string(), z.object({ value: z.unknown().optional() })).optional(),
});
export type Media = z.infer<typeof media>;

const response = z.object({
  description: z.string(),
  headers: z.record(z.string(), z.object({ description: z.string(), schema })),
  content: z.record(z.string(), media).default({}),
});
export type Response = z.infer<typeof response>;

const operation = z.object({
  operationId: z.string(),
  tags: z.tuple([z.string()]),
  summary: z.string(),
  description: z.string().default(''),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  parameters: z.array(parameter).default([]),
  requestBody: z.object({ required: z.boolean(), content: z.record(z.string(), media) }).optional(),
  responses: z.record(z.string(), response),
});

/** An operation with its method and path. */
export type Operation = z.infer<typeof operation> & { method: string; path: string };

const model = z.object({
  info: z.object({ title: z.string(), summary: z.string(), description: z.string() }),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({
    headers: z.record(z.string(), z.object({ description: z.string(), schema })),
  }),
});

export type Model = ReturnType<typeof readDocument>;

/** Parses the parts of an OpenAPI document that the page shows. */
export function readDocument(document: unknown) {
  const { info, tags, paths, components } = model.parse(withoutReferences(document, document));
  const operations: Operation[] = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, found]) => ({
      ...found,
      method: method.toUpperCase(),
      path: `/v1${path}`,
    })),
  );
  return { info, tags, headers: components.headers, operations };
}

const anyObject = z.record(z.string(), z.unknown());

/**
 * Replaces each `$ref` in a document with its target.
 *
 * @param inside the references around this node. A recursive reference becomes an empty schema.
 */
function withoutReferences(node: unknown, document: unknown, inside: string[] = []): unknown {
  if (Array.isArray(node)) return node.map((item) => withoutReferences(item, document, inside));
  if (typeof node !== 'object' || node === null) return node;
  if ('$ref' in node && typeof node.$ref === 'string') {
    if (inside.includes(node.$ref)) return {};
    const path = node.$ref.split('/').slice(1);
    const target = path.reduce<unknown>((place, name) => anyObject.parse(place)[name], document);
    return withoutReferences(target, document, [...inside, node.$ref]);
  }
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name, withoutReferences(value, document, inside)]),
  );
}
