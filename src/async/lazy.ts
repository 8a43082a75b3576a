/** Makes a value when it is first needed, and returns the same one from then on. */
export function lazy<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
