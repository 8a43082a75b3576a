/**
 * A stored GraphQL document with one named operation, and the types of its variables and data. The tests check each
 * document against the schema.
 */
export type Operation<Variables, Data> = {
  document: string;
  /** Never set: exists only for type inference. */
  types?: (variables: Variables) => Data;
};

export function operation<Variables, Data>(document: string): Operation<Variables, Data> {
  return { document };
}
