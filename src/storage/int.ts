/** The largest `integer` of PostgreSQL, and the largest `Int` of GraphQL. */
export const MAX_INT = 2 ** 31 - 1;
