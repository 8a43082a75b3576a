import { Kind } from 'graphql';

/**
 * A persisted operation of the console, with the types of its data and variables. It has no text: the server finds the
 * text by the id. The form is that of urql's persisted documents.
 */
export type Persisted<Data, Variables> = {
  kind: Kind.DOCUMENT;
  definitions: [];
  documentId: string;
  /** Never set: exists only for type inference. */
  __apiType?: (variables: Variables) => Data;
};

export function persisted<Data, Variables>(documentId: string): Persisted<Data, Variables> {
  return { kind: Kind.DOCUMENT, definitions: [], documentId };
}
