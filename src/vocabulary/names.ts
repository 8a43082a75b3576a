/** Converts the name of a value in the schema to its name in REST. Unlike the built-in method, it keeps the literal types. */
export function toLowerCase<Name extends string>(name: Name): Lowercase<Name> {
  return name.toLowerCase() as Lowercase<Name>;
}

/** Converts the name of a value in REST to its name in the schema. */
export function toUpperCase<Name extends string>(name: Name): Uppercase<Name> {
  return name.toUpperCase() as Uppercase<Name>;
}

/** The values of a table, in its order. */
export function valuesOf<Value extends string>(table: Record<Value, unknown>): Value[] {
  return Object.keys(table) as Value[];
}

/** The names in REST of the values of a table, in its order. */
export function namesOf<Value extends string>(table: Record<Value, unknown>): Lowercase<Value>[] {
  return valuesOf(table).map(toLowerCase);
}
