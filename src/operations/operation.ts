/**
 * A GraphQL document of Parley's own with one named operation, and the types of what goes in and comes out.
 * The tests hold every one of them against the schema.
 */
export type Operation<Variables, Data> = {
  document: string;
  /** Never set: carries the types. */
  types?: (variables: Variables) => Data;
};

export function operation<Variables, Data>(document: string): Operation<Variables, Data> {
  return { document };
}
