import {
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  getNamedType,
  isObjectType,
} from 'graphql';
import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import { measuredRows, measureRows, valueAt } from '../storage/measured-rows.ts';
import { batchLoader } from './batch-loader.ts';
import type { Context } from './context.ts';
import { LONG_READ_BYTES } from './long-reads.ts';
import type { Demand, ReadBudget } from './read-budget.ts';
import { demandFor, demandIn, fieldsAt } from './selection.ts';

/** Long columns of a table. Their size is checked against the budget before they are read. */
export type LongColumns<Field extends string> = {
  /**
   * Measures the long columns that the entries of a page need; nothing if the query selects no long column.
   *
   * @returns a function that returns the bytes of a start of some rows, of at least one.
   */
  measure(
    context: Context,
    info: GraphQLResolveInfo,
  ): ((ids: string[]) => Promise<number[]>) | undefined;
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

/** What `read` returns for a column of texts. A schema for each value would cost more than the value. */
export const TEXT = z.string();
export const NULLABLE_TEXT = TEXT.nullish();

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
  const loadCell = batchLoader(async (keys, _question: null, context, { timesOf }) => {
    const cells = keys.map((key) => cellAt(key, timesOf(key)));
    const budget = context.readBudget();
    const rows = await budget.inTurn(() => readRows(context, table, cells, budget));
    return (key) => {
      const { id, column } = cellAt(key);
      return rows.get(id)?.[column];
    };
  });

  return {
    measure({ prisma }, info) {
      const columns = columnsIn(info).map(([column, { copies, entryBytes }]) =>
        bytesOf(column, Prisma.sql`${copies}`, entryBytes > 0 && Prisma.sql`${entryBytes}`),
      );
      if (columns.length === 0) return undefined;
      const bytes = Prisma.join(columns, ' + ');
      return (ids) => measureRows(prisma, { table, ids, bytes });
    },

    select: (info) => Object.fromEntries(columnsIn(info).map(([column]) => [column, true])),

    async read(row, field, context, info) {
      const column = fields[field];
      if (column in row) return (row as Row)[column];
      const { copies, entryBytes } = demandIn(info, context);
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

const NONE: Demand = { copies: 0, entryBytes: 0 };

function added(one: Demand, other: Demand = NONE): Demand {
  return { copies: one.copies + other.copies, entryBytes: one.entryBytes + other.entryBytes };
}

/** A row with the demands for its columns. */
type Requested = { id: string; cells: Cell[] };

/** Reads rows in slices, and no further one once a slice exceeds the budget. */
async function readRows(
  context: Context,
  table: Prisma.Sql,
  cells: Cell[],
  budget: ReadBudget,
): Promise<Map<string, Row>> {
  const rows = [...Map.groupBy(cells, ({ id }) => id)].map(([id, cells]) => ({ id, cells }));
  const found = new Map<string, Row>();
  for (let start = 0; start < rows.length; ) {
    const spend = (bytes: number) => budget.spend(bytes, rows.length);
    const limit = Math.min(budget.left(rows.length), LONG_READ_BYTES);
    const slice = await readSlice(context, table, rows.slice(start), { spend, limit });
    for (const row of slice.rows) found.set(row.id, row);
    start += slice.count;
  }
  return found;
}

/**
 * Measures and reads as many rows as one statement may measure. Rows that do not fit never leave the database.
 *
 * @param limit bytes that are read at once; more are a long read.
 * @returns the rows that exist, and how many of the requested ones these are.
 */
async function readSlice(
  { prisma, longRead }: Context,
  table: Prisma.Sql,
  requested: Requested[],
  { spend, limit }: { spend(bytes: number): void; limit: number },
): Promise<{ rows: (Row & { id: string })[]; count: number }> {
  const ids = requested.map(({ id }) => id);
  const names = [...new Set(requested.flatMap(({ cells }) => cells.map(({ column }) => column)))];
  const columns = Prisma.join(names.map((name) => Prisma.raw(name)));
  const bytes = Prisma.join(
    names.map((name) => bytesOfColumn(name, requested)),
    ' + ',
  );
  const measured = await prisma.$queryRaw<(Row & { id: string | null; bytes: number })[]>`
    WITH ${measuredRows({ table, ids, bytes })}, whole AS (SELECT max(total) AS total FROM measured)
    SELECT measured.bytes, found.* FROM measured LEFT JOIN LATERAL (
      SELECT id, ${columns} FROM whole, ${table}
      WHERE id = (${ids}::text[])[place] AND whole.total <= ${limit}::float8
    ) AS found ON true
    WHERE place > 0 ORDER BY place`;
  const total = measured.reduce((sum, row) => sum + row.bytes, 0);
  const count = measured.length;
  spend(total);
  const read = () =>
    prisma.$queryRaw<(Row & { id: string })[]>`
      SELECT id, ${columns} FROM ${table} WHERE id = ANY(${ids.slice(0, count)})`;
  const rows = total <= limit ? measured : await longRead(read);
  return { rows: rows.flatMap(({ id, ...row }) => (id === null ? [] : { id, ...row })), count };
}

/** SQL for the bytes of a column of the row that is measured. */
function bytesOfColumn(name: string, requested: Requested[]): Prisma.Sql {
  const demands = requested.map(({ cells }) =>
    cells
      .filter(({ column }) => column === name)
      .reduce<Demand>((sum, cell) => added(cell, sum), NONE),
  );
  const entryBytes = demands.map((demand) => demand.entryBytes);
  return bytesOf(
    name,
    valueAt(demands.map(({ copies }) => copies)),
    entryBytes.some((bytes) => bytes > 0) && valueAt(entryBytes),
  );
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
