import { queryFromInfo } from '@pothos/plugin-prisma';
import type { GraphQLResolveInfo } from 'graphql';
import type { Context } from './context.ts';

/** How a document asks for the nodes of a list. */
const PATHS = [['edges', 'node']];

/** What Prisma has to read of the nodes of a list besides their columns, as the document asks. */
export function nodesQuery(typeName: string, context: Context, info: GraphQLResolveInfo) {
  return queryFromInfo({ context, info, paths: PATHS, typeName });
}

/** The same for a type whose columns are read as they are asked for: with these ones in any case. */
export function selectNodes<Select extends Record<string, true>>(
  typeName: string,
  select: Select,
  context: Context,
  info: GraphQLResolveInfo,
) {
  return queryFromInfo({ context, info, select, paths: PATHS, typeName });
}
