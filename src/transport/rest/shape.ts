import { z } from 'zod';

/** The unparsed parts of a request. */
export type Wire = { params: unknown; query: unknown; headers: unknown; body: unknown };

/** Schemas for the parts of a request. They validate requests and generate the OpenAPI document. */
export type Shape = {
  params: z.ZodObject;
  /** Made by `queryOf`, which rejects unknown parameters. */
  query: z.ZodObject;
  headers?: z.ZodObject;
  body?: BodySchema;
};

/** The schema of a JSON body. A strict object rejects every unknown field. */
export type BodySchema = z.ZodObject | z.ZodDefault<z.ZodObject>;

/** The object of a body that may be absent. */
export function objectOf(schema: BodySchema): z.ZodObject {
  return schema instanceof z.ZodDefault ? schema.unwrap() : schema;
}
