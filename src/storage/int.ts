/** The largest PostgreSQL `integer` and GraphQL `Int`. */
export const MAX_INT = 2 ** 31 - 1;
