import { describeApi } from '../../src/transport/rest/openapi/document.ts';
import { type Operation, readDocument } from '../../src/transport/rest/reference/model.ts';
import type { Route } from '../../src/transport/rest/route.ts';

export type Field = {
  operation: Operation;
  place: 'path' | 'query' | 'header' | 'body';
  name: string;
  description: string | undefined;
  /** Whether the schema lists all values, or names their form. */
  isClosed: boolean;
};

/** Every parameter and body field of a request in the reference of these routes. */
export function fieldsOf(routes: readonly Route[]): Field[] {
  return readDocument(describeApi(routes)).operations.flatMap((operation) => {
    const { parameters, requestBody } = operation;
    const body = requestBody?.content['application/json']?.schema.properties ?? {};
    const all = [
      ...parameters.map((one) => ({ place: one.in, ...one })),
      ...Object.entries(body).map(([name, schema]) => ({ place: 'body' as const, name, schema })),
    ];
    return all.map(({ place, name, schema, ...own }) => {
      const types = [schema, ...(schema.anyOf ?? [])].flatMap(({ type }) => type ?? []);
      return {
        operation,
        place,
        name,
        description: ('description' in own && own.description) || schema.description,
        isClosed: Boolean(schema.enum ?? schema.format) || types.includes('boolean'),
      };
    });
  });
}

export type Answer = { error?: { code: string; message: string; details?: { path: string }[] } } & {
  parse_errors?: string[];
};

/** A bound of a field, as its description states it. */
export type Bound = {
  words: string;
  within: unknown;
  beyond: unknown;
  /** The path of the problem; by default the field's name. */
  path?: string;
  /** The error message beyond the bound, if the error has no path. */
  refusal?: (answer: Answer) => string | undefined;
};

export const MIB = 1024 * 1024;

export const x = (length: number) => 'x'.repeat(length);

export const upTo = (words: string, most: number): Bound => ({
  words,
  within: x(most),
  beyond: x(most + 1),
});

/** An object of this size as JSON in UTF-8, in characters of two bytes. */
export function ofBytes(bytes: number, object: object = {}): object {
  const empty = Buffer.byteLength(JSON.stringify({ ...object, a: '' }));
  return { ...object, a: 'é'.repeat((bytes - empty) >> 1) + x((bytes - empty) % 2) };
}

export const nested = (levels: number, object: object = {}): object =>
  levels === 0 ? object : { ...object, a: nested(levels - 1) };

/** The fields whose description has neither the words of their bounds nor the words of their form. */
export function withoutBound(
  fields: readonly Field[],
  wordsOf: (field: Field) => string[],
): unknown[] {
  return fields
    .filter((field) => {
      const words = wordsOf(field);
      const isSaid = words.length > 0 && words.every((one) => field.description?.includes(one));
      return !field.isClosed && !isSaid;
    })
    .map(({ operation, place, name, description }) => [
      operation.operationId,
      place,
      name,
      description,
    ]);
}
