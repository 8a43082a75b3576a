import { type DocumentNode, GraphQLError, type GraphQLSchema, parse, validate } from 'graphql';

/** A document that can be run, or all that is wrong with it. */
export type ReadDocument =
  | { document: DocumentNode; errors?: undefined }
  | { document?: undefined; errors: readonly GraphQLError[] };

/** More than any sensible document has, and fewer than it takes to exhaust the parser's stack. */
export const PARSE_OPTIONS = { maxTokens: 2_000 };

/** Parses and validates a document, for the transports whose library does not do it the same way. */
export function readDocument(schema: GraphQLSchema, source: string): ReadDocument {
  try {
    const document = parse(source, PARSE_OPTIONS);
    const errors = validate(schema, document);
    return errors.length > 0 ? { errors } : { document };
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error] };
    throw error;
  }
}
