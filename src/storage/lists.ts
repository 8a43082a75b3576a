import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import type { Direction, Order, PageQuery, Place, Standing } from './keyset.ts';
import { moment } from './moment.ts';

/** Lists that are kept in one table, in the order of one of its indexes: each row stands in the list of its owner. */
export type Lists = Order & {
  table: Prisma.Sql;
  /** The column with the owner's id. */
  owner: Prisma.Sql;
  /** The columns that rows are ordered by. */
  columns: readonly [Prisma.Sql, Prisma.Sql];
  /** The number of a row's place. What decides between equals is the second column. */
  number: Prisma.Sql;
  /** What the two columns have at a place. */
  valuesAt(place: Place): Prisma.Sql;
};

/** Rows by the moment at which they were made, in milliseconds, and by their ids, the newest first. */
export const NEWEST_FIRST = {
  direction: 'desc',
  columns: [Prisma.sql`created_at`, Prisma.sql`id`],
  number: Prisma.sql`(extract(epoch FROM created_at) * 1000)::float8`,
  valuesAt: ([at, id]) => Prisma.sql`${moment(at)}, ${id}`,
} satisfies Partial<Lists>;

/**
 * The beginning of each owner's list, in one statement, and in as many steps through an index as it shows rows.
 *
 * @param rows of one owner, as `firstRows` selects them; those that fit the conditions by default.
 */
export async function readLists(
  prisma: PrismaClient,
  lists: Lists,
  owners: string[],
  page: PageQuery,
  conditions: Prisma.Sql[] = [],
  rows = firstRows(lists, page, conditions),
): Promise<Standing[]> {
  const { bytes } = page;
  const weight = bytes
    ? Prisma.sql`(SELECT ${bytes} FROM ${lists.table} WHERE id = entry.id)`
    : Prisma.sql`NULL`;
  const found = await prisma.$queryRaw<
    { owner: string; id: string; number: number; tie: string | number; bytes: number | null }[]
  >`
    SELECT owner.id AS owner, entry.id, entry.number, entry.tie, ${weight}::float8 AS bytes
    FROM unnest(${owners}::text[]) AS owner(id) CROSS JOIN LATERAL (${rows}) AS entry
    ORDER BY ${orderBy(page.direction)}`;
  return found.map(({ owner, id, number, tie, bytes }) => ({
    owner,
    id,
    place: [number, String(tie)],
    bytes: bytes ?? 0,
  }));
}

/** The first rows of one owner's list that fit some conditions, with their places. */
export function firstRows(
  lists: Lists,
  { bounds, direction, take }: PageQuery,
  conditions: Prisma.Sql[],
): Prisma.Sql {
  const { table, owner, columns, number } = lists;
  const where = [Prisma.sql`${owner} = owner.id`, ...conditions, ...withinBounds(lists, bounds)];
  const order = columns.map((column) => Prisma.sql`${column} ${inDirection(direction)}`);
  return Prisma.sql`
    SELECT id, ${number} AS number, ${columns[1]} AS tie FROM ${table}
    WHERE ${Prisma.join(where, ' AND ')} ORDER BY ${Prisma.join(order)} LIMIT ${take}`;
}

/** The order of what `firstRows` selects. */
export function orderBy(direction: Direction): Prisma.Sql {
  const order = inDirection(direction);
  return Prisma.sql`number ${order}, tie ${order}`;
}

function inDirection(direction: Direction): Prisma.Sql {
  return direction === 'asc' ? Prisma.sql`ASC` : Prisma.sql`DESC`;
}

/** Only the narrowest bound of each side: the database may begin at any of them, and walk to the next. */
export function withinBounds(
  { columns, valuesAt }: Pick<Lists, 'columns' | 'valuesAt'>,
  bounds: PageQuery['bounds'],
): Prisma.Sql[] {
  const narrowest = (wanted: Direction) =>
    bounds
      .filter(({ direction }) => direction === wanted)
      .map(({ place }) => place)
      .toSorted(comparePlaces)
      .at(wanted === 'asc' ? -1 : 0);
  const behind = narrowest('asc');
  const before = narrowest('desc');
  const place = Prisma.join([...columns]);
  return [
    ...(behind ? [Prisma.sql`(${place}) > (${valuesAt(behind)})`] : []),
    ...(before ? [Prisma.sql`(${place}) < (${valuesAt(before)})`] : []),
  ];
}

/** Of those with the same number, one has no text: at most one bound of a side is a row's. */
function comparePlaces([a, tie]: Place, [b, otherTie]: Place): number {
  return a - b || tie.length - otherTie.length;
}
