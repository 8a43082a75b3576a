import {
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  getNamedType,
  isObjectType,
} from 'graphql';
import { Prisma } from '../generated/prisma/client.ts';
import { batchLoader } from './batch-loader.ts';
import type { Context } from './context.ts';
import { budgetOf, LONG_READ_BYTES, type ReadBudget } from './read-budget.ts';
import { type Demand, demandFor, demandIn, fieldsAt } from './selection.ts';

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

/**
 * Rows that one statement measures. To measure JSON, the database writes it as text, and the embedded database works in
 * the thread of the server.
 */
const MEASURED_ROWS = 50;

/** The path from a connection to its nodes. */
const PATH = ['edges', 'node'];

type Row = Record<string, unknown>;

/** One column of one row, and how much of it the response shows. */
type Cell = { id: string; column: string } & Demand;

/**
 * @param type the GraphQL type of the rows.
 * @param fields column names by field. Prisma and the database use the same column names. A column of a field of objects
 *   is a JSON list of them.
 */
export function longColumns<Field extends string>(
  type: string,
  table: Prisma.Sql,
  fields: Readonly<Record<Field, string>>,
): LongColumns<Field> {
  const names = Object.keys(fields);
  const columnOf = (name: string) => fields[name as Field];
  const demandOf = (info: GraphQLResolveInfo, nodes: FieldNode[]) =>
    demandFor(info, nodes, typeOf(info, type, nodes[0]?.name.value ?? ''));

  /** The selected columns of a page, each with all demands for it. */
  const columnsIn = (info: GraphQLResolveInfo) => {
    const columns = new Map<string, Demand>();
    for (const nodes of fieldsAt(info, PATH, names)) {
      const column = columnOf(nodes[0]?.name.value ?? '');
      columns.set(column, added(demandOf(info, nodes), columns.get(column)));
    }
    return [...columns];
  };

  // Its keys are cells, written as JSON.
  const loadCell = batchLoader(async (keys, _question: null, context, { timesOf, info }) => {
    const cells = keys.map((key) => cellAt(key, timesOf(key)));
    const budget = budgetOf(info);
    const rows = await budget.inTurn(() => readRows(context, table, cells, budget));
    return (key) => {
      const { id, column } = cellAt(key);
      return rows.get(id)?.[column];
    };
  });

  return {
    weigh(info) {
      const bytes = columnsIn(info).map(([column, { copies, entryBytes }]) =>
        bytesOf(column, Prisma.sql`${copies}`, entryBytes > 0 && Prisma.sql`${entryBytes}`),
      );
      return bytes.length > 0 ? Prisma.join(bytes, ' + ') : undefined;
    },

    select: (info) => Object.fromEntries(columnsIn(info).map(([column]) => [column, true])),

    async read(row, field, context, info) {
      const column = fields[field];
      if (column in row) return (row as Row)[column];
      const { copies, entryBytes } = demandIn(info);
      const key = JSON.stringify([row.id, column, copies, entryBytes]);
      return loadCell(key, null, context, info, info.path.prev);
    },
  };
}

/** The type of a field. */
function typeOf({ schema }: GraphQLResolveInfo, type: string, name: string): GraphQLNamedType {
  const parent = schema.getType(type);
  const field = isObjectType(parent) ? parent.getFields()[name] : undefined;
  if (!field) throw new Error(`There is no field ${type}.${name}.`);
  return getNamedType(field.type);
}

function added(one: Demand, other: Demand = { copies: 0, entryBytes: 0 }): Demand {
  return { copies: one.copies + other.copies, entryBytes: one.entryBytes + other.entryBytes };
}

/** Reads rows in batches, and no further one once a batch exceeds the budget. */
async function readRows(
  context: Context,
  table: Prisma.Sql,
  cells: Cell[],
  budget: ReadBudget,
): Promise<Map<string, Row>> {
  const byId = [...Map.groupBy(cells, ({ id }) => id).values()];
  const found: (Row & { id: string })[] = [];
  for (let start = 0; start < byId.length; start += MEASURED_ROWS) {
    const batch = byId.slice(start, start + MEASURED_ROWS).flat();
    for (const row of await readBatch(context, table, batch, budget)) found.push(row);
  }
  return new Map(found.map((row) => [row.id, row]));
}

async function readBatch(
  context: Context,
  table: Prisma.Sql,
  cells: Cell[],
  budget: ReadBudget,
): Promise<(Row & { id: string })[]> {
  const ids = [...new Set(cells.map(({ id }) => id))];
  const columns = [...Map.groupBy(cells, ({ column }) => column)].map(([column, own], index) => {
    const demands = new Map<string, Demand>();
    for (const cell of own) demands.set(cell.id, added(cell, demands.get(cell.id)));
    const numbers = (of: keyof Demand) => ids.map((id) => demands.get(id)?.[of] ?? 0);
    const isList = own.some(({ entryBytes }) => entryBytes > 0);
    return { column, index, isList, copies: numbers('copies'), entryBytes: numbers('entryBytes') };
  });
  const copies = (index: number) => Prisma.raw(`copies_${index}`);
  const entryBytes = (index: number) => Prisma.raw(`entry_bytes_${index}`);
  const requested = columns.flatMap(({ index, isList, ...numbers }) => [
    { name: copies(index), values: numbers.copies },
    ...(isList ? [{ name: entryBytes(index), values: numbers.entryBytes }] : []),
  ]);
  const rows = Prisma.sql`
    SELECT id, ${Prisma.join(columns.map(({ column }) => Prisma.raw(column)))},
      ${Prisma.join(
        columns.map(({ column, index, isList }) =>
          bytesOf(column, copies(index), isList && entryBytes(index)),
        ),
        ' + ',
      )} AS bytes
    FROM ${table} JOIN unnest(
      ${ids}::text[], ${Prisma.join(requested.map(({ values }) => Prisma.sql`${values}::float8[]`))}
    ) AS requested(requested_id, ${Prisma.join(requested.map(({ name }) => name))}) ON requested_id = id`;
  return readWithin<Row & { id: string }>(context, budget, rows);
}

/** @param times how often the response shows the cell. */
function cellAt(key: string, times = 1): Cell {
  const [id, column, copies, entryBytes] = JSON.parse(key);
  return { id, column, copies: copies * times, entryBytes: entryBytes * times };
}

/** Bytes of a column in the response. @param entryBytes for a list. */
function bytesOf(column: string, copies: Prisma.Sql, entryBytes: Prisma.Sql | false): Prisma.Sql {
  const name = Prisma.raw(column);
  const texts = Prisma.sql`COALESCE(octet_length(${name}::text), 0)::float8 * ${copies}`;
  if (!entryBytes) return texts;
  return Prisma.sql`${texts} +
    CASE jsonb_typeof(${name}) WHEN 'array' THEN jsonb_array_length(${name}) ELSE 0 END::float8 * ${entryBytes}`;
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
