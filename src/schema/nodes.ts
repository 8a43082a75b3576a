import { queryFromInfo } from '@pothos/plugin-prisma';
import type { GraphQLResolveInfo } from 'graphql';
import {
  type Order,
  type Page,
  type PageArguments,
  type PageQuery,
  readPages,
  type Standing,
} from '../storage/keyset.ts';
import { together } from './batch-loader.ts';
import type { Context } from './context.ts';
import type { LongColumns } from './long-columns.ts';
import { LONG_READ_BYTES } from './long-reads.ts';
import { budgetOf, type ReadBudget } from './read-budget.ts';

/** How a document asks for the nodes of a list. */
const PATHS = [['edges', 'node']];

/** What Prisma has to read of the node that a field is, by the same rule as `selectNodes`. */
export function selectNode<Select extends Record<string, true>>(
  select: Select,
  context: Context,
  info: GraphQLResolveInfo,
) {
  return queryFromInfo({ context, info, select });
}

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

/**
 * Makes the condition by which a node is found that not everybody may see.
 *
 * @param find those of some ids that the caller may see; asked once for all that are looked for.
 */
export function seenBy(
  find: (ids: string[], context: Context) => PromiseLike<{ id: string }[]>,
): (id: string, context: Context) => Promise<{ id: string }> {
  const isSeen = together(async (ids, _question: null, context) => {
    const seen = new Set((await find(ids, context)).map(({ id }) => id));
    return (id) => seen.has(id);
  });
  // Nothing has no id.
  return async (id, context) => ({ id: (await isSeen(id, null, context)) ? id : '' });
}

/** Which rows Prisma is to read. */
type Of = { where: { id: { in: string[] } } };

/**
 * Makes the lists that rows have, one page of each: the pages are found by an index, for all owners at once, and
 * then what is asked of the rows that stand on them is read.
 *
 * @param find gets the owners' ids.
 * @param read gets what Prisma has to read of which rows.
 * @param long the columns by whose bytes a page may end sooner.
 * @returns reads the page of one owner.
 */
export function listsOf<
  Arguments extends PageArguments,
  Query extends { select?: object },
  Row extends { id: string },
>(
  order: Order,
  find: (
    context: Context,
    owners: string[],
    page: PageQuery,
    args: Arguments,
  ) => PromiseLike<Standing[]>,
  read: (context: Context, query: Query & Of) => PromiseLike<Row[]>,
  long?: Pick<LongColumns<string>, 'weigh' | 'select'>,
) {
  type Question = { args: Arguments; query: Query };
  const readAll = together(async (owners, { args, query }: Question, context, asked) => {
    const { info, timesOf } = asked;
    const bytes = info && long?.weigh(info);
    const budget = info && bytes ? budgetOf(info) : undefined;
    const pageOf = await readPages(
      args,
      order,
      (page) => find(context, owners, { ...page, bytes }, args),
      budget && fitIn(budget, timesOf),
    );
    const shown = owners.map(pageOf).flatMap(({ edges }) => edges.map(({ node }) => node));
    const readRows = async () =>
      read(context, { ...query, where: { id: { in: shown.map(({ id }) => id) } } });
    const isLong = shown.reduce((sum, { bytes }) => sum + bytes, 0) > LONG_READ_BYTES;
    const rows = isLong
      ? await context.longRead(readRows)
      : shown.length > 0
        ? await readRows()
        : [];
    const byId = new Map(rows.map((row) => [row.id, row]));
    return (owner): Page<Row> => {
      const { edges, pageInfo } = pageOf(owner);
      return {
        // One that is deleted meanwhile is left out.
        edges: edges.flatMap(({ cursor, node: { id } }) => {
          const node = byId.get(id);
          return node ? [{ cursor, node }] : [];
        }),
        pageInfo,
      };
    };
  });
  return (
    owner: string,
    args: Arguments,
    query: Query,
    context: Context,
    info: GraphQLResolveInfo,
  ) => {
    const question = { args, query: withSelected(query, long?.select(info)) };
    return readAll(owner, question, context, info);
  };
}

function fitIn(budget: ReadBudget, timesOf: (owner: string) => number) {
  return (lists: Standing[][]) =>
    budget.share(lists.map((list) => list.map(({ owner, bytes }) => bytes * timesOf(owner))));
}

/** What Prisma has to read, and these columns. */
function withSelected<Query extends { select?: object }>(
  query: Query,
  columns: Record<string, true> = {},
): Query {
  return query.select ? { ...query, select: { ...query.select, ...columns } } : query;
}
