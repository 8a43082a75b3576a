import { type DocumentNode, Kind, type OperationTypeNode } from 'graphql';

/**
 * A persisted operation of the console, with the types of its data and variables. It has no text: the server finds the
 * text by the id. Its only definition names the kind of operation, which urql checks in development.
 */
export type Persisted<Data, Variables> = DocumentNode & {
  documentId: string;
  /** Never set: exists only for type inference. */
  __apiType?: (variables: Variables) => Data;
};

export function persisted<Data, Variables>(
  operation: OperationTypeNode,
  documentId: string,
): Persisted<Data, Variables> {
  const selectionSet = { kind: Kind.SELECTION_SET, selections: [] } as const;
  const definition = { kind: Kind.OPERATION_DEFINITION, operation, selectionSet } as const;
  return { kind: Kind.DOCUMENT, definitions: [definition], documentId };
}
