/** An operation of the command, with the types of its data and variables. The server persists its text under its id. */
export type Persisted<Data, Variables> = {
  id: string;
  text: string;
  /** Never set: exists only for type inference. */
  types?: (variables: Variables) => Data;
};

export function persisted<Data, Variables>(id: string, text: string): Persisted<Data, Variables> {
  return { id, text };
}
