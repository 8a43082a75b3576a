import { setImmediate } from 'node:timers/promises';
import { createContextCache } from '@pothos/core';
import { type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import { Prisma } from '../generated/prisma/client.ts';
import type { Context } from './context.ts';
import { LONG_READ_BYTES } from './long-reads.ts';
import { budgetOf, type ReadBudget } from './read-budget.ts';
import { countFields } from './selection.ts';

/** The long columns of a table: those that are weighed before they are read. */
export type LongColumns<Field extends string> = {
  /** The bytes of what a page's entries show of them, as an expression over a row; none where they show nothing. */
  weigh(info: GraphQLResolveInfo): Prisma.Sql | undefined;
  /** What Prisma has to select of them for the entries of a page. */
  select(info: GraphQLResolveInfo): Record<string, true>;
  /**
   * Reads a field of a row: from the row itself where a page has read it, else for all rows of one place together.
   *
   * @returns the column; `undefined` of a row that is gone.
   * @throws GatewayError `invalid_request` where the operation reads too much.
   */
  read(
    row: { id: string },
    field: Field,
    context: Context,
    info: GraphQLResolveInfo,
  ): Promise<unknown>;
};

/** How a document asks for the entries of a list. */
const PATH = ['edges', 'node'];

type Row = Record<string, unknown>;
type Batch = {
  /** How often each row is asked for each column. */
  asked: Map<string, Map<string, number>>;
  rows: Promise<Map<string, Row>>;
};

/** @param fields the columns by the fields that show them. Prisma calls each as the database does. */
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
        // All that is resolved by then is read too.
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

/** Bytes of a column that is shown so many times. */
function bytesOf(column: string, count: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`COALESCE(octet_length(${Prisma.raw(column)}::text), 0)::float8 * ${count}`;
}

/**
 * Reads rows where they fit in what is left to an operation. Rows that do not fit never leave the database.
 *
 * @param rows a statement whose `bytes` says what each row takes.
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
