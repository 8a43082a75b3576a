import { type DocumentNode, GraphQLError, type GraphQLSchema, parse, validate } from 'graphql';

/** A document that can be run, or all that is wrong with it. */
export type ReadDocument =
  | { document: DocumentNode; errors?: undefined }
  | { document?: undefined; errors: readonly GraphQLError[] };

/** Parses and validates a document, for the transports whose library does not do it the same way. */
export function readDocument(schema: GraphQLSchema, source: string): ReadDocument {
  try {
    const document = parse(source);
    const errors = validate(schema, document);
    return errors.length > 0 ? { errors } : { document };
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error] };
    throw error;
  }
}
