import { queryFromInfo } from '@pothos/plugin-prisma';
import type { GraphQLResolveInfo } from 'graphql';
import {
  cutPage,
  type Found,
  type ListEntry,
  type Order,
  type Page,
  type PageArguments,
  type PageQuery,
  readPageArguments,
} from '../storage/keyset.ts';
import { batchLoader } from './batch-loader.ts';
import type { Context } from './context.ts';
import type { LongColumns } from './long-columns.ts';
import { LONG_READ_BYTES } from './long-reads.ts';

/** Columns that are always read, of a type whose columns are read on demand. */
type Columns = Record<string, true> | undefined;

/** The Prisma query for the document: its relations, and its columns if they are read on demand. */
type Query<Select extends Columns> = ReturnType<typeof queryFromInfo<Select>>;

/** How to load the pages of a list field. */
type Connection<Arguments, Select extends Columns, Row> = {
  /** The GraphQL type of the entries. */
  type: string;
  order: Order;
  select?: Select;
  /** Long columns. A page ends early when their bytes exceed the read budget. */
  texts?: Pick<LongColumns<string>, 'measure' | 'select'>;
  /** Finds the ids and positions on the page of each parent, in one statement. A search has one parent. */
  find(
    context: Context,
    parentIds: string[],
    page: PageQuery,
    args: Arguments,
  ): PromiseLike<ListEntry[] | Found>;
  /** Reads entries by id. */
  read(
    context: Context,
    query: Query<Select> & { where: { id: { in: string[] } } },
  ): PromiseLike<Row[]>;
};

/** The path from a connection to its entries. */
const PATHS = [['edges', 'node']];

/**
 * Creates the loader of a paginated list field. It batches all parents: one statement finds their pages, and another one
 * reads the entries on them. Between them, the long texts are measured.
 *
 * @returns a function that loads the page of one parent.
 */
export function connectionLoader<
  Arguments extends PageArguments,
  Row extends { id: string },
  Select extends Columns = undefined,
>({ type, order, select, texts, find, read }: Connection<Arguments, Select, Row>) {
  type Question = { args: Arguments; query: Query<Select> };

  const loadPages = batchLoader(
    async (parentIds, { args, query }: Question, context, { timesOf, info }) => {
      const request = readPageArguments(args, order);
      const found = await find(context, parentIds, request.query, args);
      const { rows: all, reached }: Found = Array.isArray(found) ? { rows: found } : found;
      const lists = [...Map.groupBy(all, ({ owner }) => owner)].map(([owner, entries]) => ({
        owner,
        entries,
        ids: entries.slice(0, request.size).map(({ id }) => id),
        times: timesOf(owner),
      }));

      const measure = texts?.measure(context, info);
      const sizes = measure && (await context.readBudget().share(lists, measure));
      const pages = new Map(
        lists.map(({ owner, entries, ids }, index) => [
          owner,
          cutPage(request, { rows: entries, reached }, sizes ? sizes[index]?.length : ids.length),
        ]),
      );

      const shown = [...pages.values()].flatMap(({ edges }) => edges.map(({ node }) => node));
      const where = { id: { in: shown.map(({ id }) => id) } };
      const readRows = async () => (shown.length > 0 ? read(context, { ...query, where }) : []);
      const isLong = (sizes ?? []).flat().reduce((sum, size) => sum + size, 0) > LONG_READ_BYTES;
      const rows = isLong ? await context.longRead(readRows) : await readRows();

      const byId = new Map(rows.map((row) => [row.id, row]));
      return (parentId) =>
        withRows(pages.get(parentId) ?? cutPage(request, { rows: [], reached }), byId);
    },
  );

  return (parentId: string, args: Arguments, context: Context, info: GraphQLResolveInfo) => {
    const query = queryFromInfo<Select>({ context, info, select, paths: PATHS, typeName: type });
    return loadPages(
      parentId,
      { args, query: withColumns(query, texts?.select(info)) },
      context,
      info,
    );
  };
}

/** The page with the rows of its entries. A row deleted after the index was read is left out. */
function withRows<Row>({ edges, pageInfo }: Page<ListEntry>, byId: Map<string, Row>): Page<Row> {
  return {
    edges: edges.flatMap(({ cursor, node: { id } }) => {
      const node = byId.get(id);
      return node ? [{ cursor, node }] : [];
    }),
    pageInfo,
  };
}

/** Adds columns to the selection of a Prisma query; a query without one already reads all columns. */
function withColumns<Query extends { select?: object }>(
  query: Query,
  columns: Record<string, true> = {},
): Query {
  return query.select ? { ...query, select: { ...query.select, ...columns } } : query;
}
