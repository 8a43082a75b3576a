import { Prisma } from '../generated/prisma/client.ts';
import type { Direction, ListEntry, Order, PageQuery, Place } from './keyset.ts';
import { moment } from './moment.ts';

/** Describes lists in one table, one list per owner, in the order of one of the table's indexes. */
export type ListDefinition = Order & {
  table: Prisma.Sql;
  /** The column with the owner's id. */
  owner: Prisma.Sql;
  /** The sort key and the tie-breaker. */
  columns: readonly [Prisma.Sql, Prisma.Sql];
  /** The first element of a row's `Place`, as an SQL expression. The second element is the second column. */
  number: Prisma.Sql;
  /** The values of the two columns at a position. */
  valuesAt(place: Place): Prisma.Sql;
};

/** Executes the statement of a list. */
export type QueryRaw = { $queryRaw<Rows>(query: Prisma.Sql): Promise<Rows> };

/** Order by creation time in milliseconds and by id, newest first. */
export const NEWEST_FIRST = {
  direction: 'desc',
  columns: [Prisma.sql`created_at`, Prisma.sql`id`],
  number: Prisma.sql`(extract(epoch FROM created_at) * 1000)::float8`,
  valuesAt: ([at, id]) => Prisma.sql`${moment(at)}, ${id}`,
} satisfies Partial<ListDefinition>;

/** The condition that a column has a value of an enum: none if the value is absent, because every value matches then. */
export function hasValue(
  column: 'environment' | 'status',
  type: 'Environment' | 'ApprovalStatus' | 'DeploymentStatus',
  value: string | null | undefined,
): Prisma.Sql[] {
  if (value == null) return [];
  return [Prisma.sql`${Prisma.raw(column)} = ${value}::${Prisma.raw(`"${type}"`)}`];
}

/**
 * Reads a page of each owner's list in one statement. Scans no more index entries than it returns rows.
 *
 * @param rows a query for one owner's rows, with the columns of `firstRows`; by default the rows that match the
 *   conditions.
 */
export async function readLists(
  prisma: QueryRaw,
  lists: ListDefinition,
  owners: string[],
  page: PageQuery,
  conditions: Prisma.Sql[] = [],
  rows = firstRows(lists, page, conditions),
): Promise<ListEntry[]> {
  const { bytes } = page;
  const weight = bytes
    ? Prisma.sql`(SELECT ${bytes} FROM ${lists.table} WHERE id = entry.id)`
    : Prisma.sql`NULL`;
  const found = await prisma.$queryRaw<
    { owner: string; id: string; number: number; tie: string | number; bytes: number | null }[]
  >(Prisma.sql`
    SELECT owner.id AS owner, entry.id, entry.number, entry.tie, ${weight}::float8 AS bytes
    FROM unnest(${owners}::text[]) AS owner(id) CROSS JOIN LATERAL (${rows}) AS entry
    ORDER BY ${orderBy(page.direction)}`);
  return found.map(({ owner, id, number, tie, bytes }) => ({
    owner,
    id,
    place: [number, String(tie)],
    bytes: bytes ?? 0,
  }));
}

/** A query for the first rows of one owner's list that match the conditions, with their positions. */
export function firstRows(
  lists: ListDefinition,
  { bounds, direction, take }: PageQuery,
  conditions: Prisma.Sql[],
): Prisma.Sql {
  const { table, owner, columns, number } = lists;
  const where = [Prisma.sql`${owner} = owner.id`, ...conditions, ...withinBounds(lists, bounds)];
  return Prisma.sql`
    SELECT id, ${number} AS number, ${columns[1]} AS tie FROM ${table}
    WHERE ${Prisma.join(where, ' AND ')} ORDER BY ${columnsIn(columns, direction)} LIMIT ${take}`;
}

/** The `ORDER BY` terms for rows of `firstRows`. */
export function orderBy(direction: Direction): Prisma.Sql {
  const order = inDirection(direction);
  return Prisma.sql`number ${order}, tie ${order}`;
}

/** The `ORDER BY` terms for the columns of a list. */
export function columnsIn(columns: ListDefinition['columns'], direction: Direction): Prisma.Sql {
  return Prisma.join(columns.map((column) => Prisma.sql`${column} ${inDirection(direction)}`));
}

function inDirection(direction: Direction): Prisma.Sql {
  return direction === 'asc' ? Prisma.sql`ASC` : Prisma.sql`DESC`;
}

/** Uses only the narrowest bound of each side: with more, the index scan might start at a wider one. */
export function withinBounds(
  { columns, valuesAt }: Pick<ListDefinition, 'columns' | 'valuesAt'>,
  bounds: PageQuery['bounds'],
): Prisma.Sql[] {
  const narrowest = (wanted: Direction) =>
    bounds
      .filter(({ direction }) => direction === wanted)
      .map(({ place }) => place)
      .toSorted(comparePlaces)
      .at(wanted === 'asc' ? -1 : 0);
  const after = narrowest('asc');
  const before = narrowest('desc');
  const place = Prisma.join([...columns]);
  return [
    ...(after ? [Prisma.sql`(${place}) > (${valuesAt(after)})`] : []),
    ...(before ? [Prisma.sql`(${place}) < (${valuesAt(before)})`] : []),
  ];
}

/** The tie-breaker of a bound is a row's or empty, and at most one bound of a side is a row's: lengths suffice. */
function comparePlaces([a, tie]: Place, [b, otherTie]: Place): number {
  return a - b || tie.length - otherTie.length;
}
