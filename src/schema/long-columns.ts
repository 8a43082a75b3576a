import { setImmediate } from 'node:timers/promises';
import { createContextCache } from '@pothos/core';
import { type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import { Prisma } from '../generated/prisma/client.ts';
import type { Context } from './context.ts';
import { LONG_READ_BYTES } from './long-reads.ts';
import { budgetOf, type ReadBudget } from './read-budget.ts';
import { countFields } from './selection.ts';

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
type Batch = {
  /** How often the batch requests each column of each row. */
  asked: Map<string, Map<string, number>>;
  rows: Promise<Map<string, Row>>;
};

/** @param fields column names by field. Prisma and the database use the same column names. */
export function longColumns<Field extends string>(
  table: Prisma.Sql,
  fields: Readonly<Record<Field, string>>,
): LongColumns<Field> {
  const names = Object.keys(fields);
  const columnsIn = (info: GraphQLResolveInfo) =>
    [...countFields(info, PATH, names)].map(([name, count]) => ({ column: columnOf(name), count }));
  const columnOf = (name: string) => fields[name as Field];
  const batchesOf = createContextCache((_: Context) => new Map<string, Batch>());

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
      const batches = batchesOf(context);
      const name = JSON.stringify(responsePathAsArray(info.path.prev).filter(isName));
      const begin = (): Batch => {
        const asked: Batch['asked'] = new Map();
        const budget = budgetOf(info);
        // Fields that resolve before the next iteration join the batch.
        const rows = setImmediate().then(() => {
          batches.delete(name);
          return budget.inTurn(() => readRows(context, table, asked, budget));
        });
        return { asked, rows };
      };
      const batch = batches.get(name) ?? begin();
      batches.set(name, batch);
      const counts = batch.asked.get(row.id) ?? new Map<string, number>();
      batch.asked.set(row.id, counts.set(column, (counts.get(column) ?? 0) + 1));
      return (await batch.rows).get(row.id)?.[column];
    },
  };
}

async function readRows(
  context: Context,
  table: Prisma.Sql,
  asked: Batch['asked'],
  budget: ReadBudget,
): Promise<Map<string, Row>> {
  const columns = [...new Set([...asked.values()].flatMap((counts) => [...counts.keys()]))];
  const ids = [...asked.keys()];
  const countsOf = (column: string) => [...asked.values()].map((counts) => counts.get(column) ?? 0);
  const count = (index: number) => Prisma.raw(`count_${index}`);
  const rows = Prisma.sql`
    SELECT id, ${Prisma.join(columns.map((column) => Prisma.raw(column)))},
      ${Prisma.join(
        columns.map((column, index) => bytesOf(column, count(index))),
        ' + ',
      )} AS bytes
    FROM ${table} JOIN unnest(
      ${ids}::text[], ${Prisma.join(columns.map((column) => Prisma.sql`${countsOf(column)}::int[]`))}
    ) AS asked(asked_id, ${Prisma.join(columns.map((_, index) => count(index)))}) ON asked_id = id`;
  const found = await readWithin<Row & { id: string }>(context, budget, rows);
  return new Map(found.map((row) => [row.id, row]));
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
      WITH asked AS MATERIALIZED (${rows}),
        whole AS (SELECT COALESCE(sum(bytes), 0)::float8 AS total, count(*)::int AS count FROM asked)
      SELECT whole.*, asked.* FROM whole LEFT JOIN asked ON
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

function isName(key: string | number): key is string {
  return typeof key === 'string';
}
