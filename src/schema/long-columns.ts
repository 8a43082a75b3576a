import { type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql';
import { Prisma } from '../generated/prisma/client.ts';
import { batchLoader } from './batch-loader.ts';
import type { Context } from './context.ts';
import { budgetOf, LONG_READ_BYTES, type ReadBudget } from './read-budget.ts';

/** Long columns of a table. Their size is checked against the budget before they are read. */
export type LongColumns<Field extends string> = {
  /** SQL for the bytes of long columns that a row adds to a page; none if the query selects no long column. */
  weigh(info: GraphQLResolveInfo): Prisma.Sql | undefined;
  /** The Prisma selection of the long columns that the entries of a page need. */
  select(info: GraphQLResolveInfo): Record<string, true>;
  /**
   * Reads a field of a row: from the row itself if its page already read it, otherwise batched with the other rows at
   * this path of the response.
   *
   * @returns the column; `undefined` if the row was deleted.
   * @throws GatewayError `invalid_request` if the operation exceeds its read budget.
   */
  read(
    row: { id: string },
    field: Field,
    context: Context,
    info: GraphQLResolveInfo,
  ): Promise<unknown>;
};

/** The path from a connection to its nodes. */
const PATH = ['edges', 'node'];

type Row = Record<string, unknown>;

/** One column of one row. */
type Cell = { id: string; column: string };

/** @param fields column names by field. Prisma and the database use the same column names. */
export function longColumns<Field extends string>(
  table: Prisma.Sql,
  fields: Readonly<Record<Field, string>>,
): LongColumns<Field> {
  const names = Object.keys(fields);
  const columnsIn = (info: GraphQLResolveInfo) =>
    [...countFields(info, PATH, names)].map(([name, count]) => ({ column: columnOf(name), count }));
  const columnOf = (name: string) => fields[name as Field];

  // Its keys are cells, written as the row's id, a space and the column.
  const loadCell = batchLoader(async (keys, _question: null, context, { timesOf, info }) => {
    const counts = new Map(keys.map((key) => [key, timesOf(key)]));
    const budget = budgetOf(info);
    const rows = await budget.inTurn(() => readRows(context, table, counts, budget));
    return (key) => {
      const { id, column } = cellAt(key);
      return rows.get(id)?.[column];
    };
  });

  return {
    weigh(info) {
      const bytes = columnsIn(info).map(({ column, count }) =>
        bytesOf(column, Prisma.sql`${count}`),
      );
      return bytes.length > 0 ? Prisma.join(bytes, ' + ') : undefined;
    },

    select: (info) => Object.fromEntries(columnsIn(info).map(({ column }) => [column, true])),

    async read(row, field, context, info) {
      const column = fields[field];
      if (column in row) return (row as Row)[column];
      return loadCell(`${row.id} ${column}`, null, context, info, info.path.prev);
    },
  };
}

/** @param counts how often the response shows each cell. */
async function readRows(
  context: Context,
  table: Prisma.Sql,
  counts: Map<string, number>,
  budget: ReadBudget,
): Promise<Map<string, Row>> {
  const cells = [...counts.keys()].map(cellAt);
  const columns = [...new Set(cells.map(({ column }) => column))];
  const ids = [...new Set(cells.map(({ id }) => id))];
  const countsOf = (column: string) => ids.map((id) => counts.get(`${id} ${column}`) ?? 0);
  const count = (index: number) => Prisma.raw(`count_${index}`);
  const rows = Prisma.sql`
    SELECT id, ${Prisma.join(columns.map((column) => Prisma.raw(column)))},
      ${Prisma.join(
        columns.map((column, index) => bytesOf(column, count(index))),
        ' + ',
      )} AS bytes
    FROM ${table} JOIN unnest(
      ${ids}::text[], ${Prisma.join(columns.map((column) => Prisma.sql`${countsOf(column)}::int[]`))}
    ) AS requested(requested_id, ${Prisma.join(columns.map((_, index) => count(index)))}) ON requested_id = id`;
  const found = await readWithin<Row & { id: string }>(context, budget, rows);
  return new Map(found.map((row) => [row.id, row]));
}

function cellAt(key: string): Cell {
  const [id = '', column = ''] = key.split(' ');
  return { id, column };
}

/** Bytes of a column that appears `count` times in the response. */
function bytesOf(column: string, count: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`COALESCE(octet_length(${Prisma.raw(column)}::text), 0)::float8 * ${count}`;
}

/**
 * Reads rows if they fit in the budget. Rows that do not fit never leave the database.
 *
 * @param rows a statement with a column `bytes`, the size of each row in the response.
 * @throws GatewayError `invalid_request`
 */
export async function readWithin<Found extends Row>(
  { prisma, longRead }: Context,
  budget: ReadBudget,
  rows: Prisma.Sql,
): Promise<Found[]> {
  const read = async (limits: { one: number; many: number }) => {
    const found = await prisma.$queryRaw<(Found & { total: number; count: number })[]>`
      WITH requested AS MATERIALIZED (${rows}),
        whole AS (SELECT COALESCE(sum(bytes), 0)::float8 AS total, count(*)::int AS count FROM requested)
      SELECT whole.*, requested.* FROM whole LEFT JOIN requested ON
        total <= CASE count WHEN 1 THEN ${limits.one}::float8 ELSE ${limits.many}::float8 END`;
    const { total = 0, count = 0 } = found[0] ?? {};
    return { found: count > 0 ? found : [], total, count };
  };
  const limits = { one: budget.left(1), many: budget.left(2) };
  const atOnce = (bytes: number) => Math.min(bytes, LONG_READ_BYTES);
  const first = await read({ one: atOnce(limits.one), many: atOnce(limits.many) });
  budget.spend(first.total, first.count);
  if (first.total <= LONG_READ_BYTES) return first.found;
  return (await longRead(() => read(limits))).found;
}

/**
 * Counts how often an operation selects fields at a path below the resolved field. Aliases count separately; fragments
 * are followed.
 *
 * @param path the field names that lead there, such as `edges` and `node`.
 * @returns the count of each field by name.
 */
export function countFields(
  { fieldNodes, fragments }: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>,
  path: readonly string[],
  names: readonly string[],
): Map<string, number> {
  const places = new Map<string, string>();
  const seen = new Set<string>();
  const walk = ({ selections }: SelectionSetNode, depth: number, place: string): void => {
    for (const selection of selections) {
      switch (selection.kind) {
        case Kind.FIELD: {
          const { name, alias, selectionSet } = selection;
          const here = `${place}.${(alias ?? name).value}`;
          if (depth === path.length) {
            if (names.includes(name.value)) places.set(here, name.value);
          } else if (name.value === path[depth] && selectionSet) {
            walk(selectionSet, depth + 1, here);
          }
          break;
        }
        case Kind.INLINE_FRAGMENT:
          walk(selection.selectionSet, depth, place);
          break;
        case Kind.FRAGMENT_SPREAD: {
          const spread = `${place}...${selection.name.value}`;
          const fragment = fragments[selection.name.value];
          if (!fragment || seen.has(spread)) break;
          seen.add(spread);
          walk(fragment.selectionSet, depth, place);
        }
      }
    }
  };
  for (const { selectionSet } of fieldNodes) if (selectionSet) walk(selectionSet, 0, '');

  const counts = new Map<string, number>();
  for (const name of places.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
