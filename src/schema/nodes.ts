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

/** The path from a connection to its nodes. */
const PATHS = [['edges', 'node']];

/** The Prisma query for a field that returns a node. `select` adds columns that are always read. */
export function selectNode<Select extends Record<string, true>>(
  select: Select,
  context: Context,
  info: GraphQLResolveInfo,
) {
  return queryFromInfo({ context, info, select });
}

/** The Prisma query for the nodes of a connection: all columns, and the relations that the document selects. */
export function nodesQuery(typeName: string, context: Context, info: GraphQLResolveInfo) {
  return queryFromInfo({ context, info, paths: PATHS, typeName });
}

/** The same for a type whose columns are read on demand. `select` adds columns that are always read. */
export function selectNodes<Select extends Record<string, true>>(
  typeName: string,
  select: Select,
  context: Context,
  info: GraphQLResolveInfo,
) {
  return queryFromInfo({ context, info, select, paths: PATHS, typeName });
}

/**
 * Creates the `findUnique` condition of a node type with restricted visibility.
 *
 * @param find finds the ids that the caller may see. Concurrent lookups are batched into one call.
 */
export function seenBy(
  find: (ids: string[], context: Context) => PromiseLike<{ id: string }[]>,
): (id: string, context: Context) => Promise<{ id: string }> {
  const isSeen = together(async (ids, _question: null, context) => {
    const seen = new Set((await find(ids, context)).map(({ id }) => id));
    return (id) => seen.has(id);
  });
  // No row has an empty id, so the lookup finds nothing.
  return async (id, context) => ({ id: (await isSeen(id, null, context)) ? id : '' });
}

/** The rows to read, by id. */
type Of = { where: { id: { in: string[] } } };

/**
 * Creates a paginated list field with batching: one index query finds the pages of all owners, and a second query reads
 * the rows on them.
 *
 * @param find finds the ids and positions on the page of each owner.
 * @param read reads rows by id.
 * @param long long columns. A page ends early when their bytes exceed the read budget.
 * @returns a function that reads the page of one owner.
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
        // A row deleted after the index query is left out.
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

/** Adds columns to the selection of a Prisma query; a query without one already reads all columns. */
function withSelected<Query extends { select?: object }>(
  query: Query,
  columns: Record<string, true> = {},
): Query {
  return query.select ? { ...query, select: { ...query.select, ...columns } } : query;
}
