import { type GraphQLSchema, getNullableType } from 'graphql';

/**
 * Makes every field of `Mutation` nullable. A field that fails then becomes null alone: the data of the other fields,
 * such as a secret that is returned only once, still arrives.
 */
export function nullableMutations(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    field.type = getNullableType(field.type);
  }
  return schema;
}
