import { Prisma } from '../../generated/prisma/client.ts';
import type { ListEntry, PageQuery } from '../../storage/keyset.ts';
import { type ListDefinition, orderBy, type QueryRaw, withinBounds } from '../../storage/lists.ts';
import { isIndexed, SEARCHED_BYTES, unindexed } from './search-conditions.ts';
import { marksOf } from './search-marks.ts';
import type { SearchWords } from './search-words.ts';

/** What to find in a window of time. */
type Wanted = {
  words: SearchWords;
  /** The times of the window's ends, in any order. */
  period: [number, number];
  /** The conditions of the other fields. */
  conditions: Prisma.Sql[];
};

/**
 * Finds the first runs of a page by the index of texts, in one statement.
 *
 * @returns the runs with `SEARCHED_BYTES`, and how many runs the index found.
 */
export async function findIndexed(
  reader: QueryRaw,
  lists: ListDefinition,
  botId: string,
  { bounds, direction, take }: PageQuery,
  { words: { candidates, adjacent }, period, conditions }: Wanted,
): Promise<{ rows: ListEntry[]; indexed: number }> {
  const ofPage = [Prisma.sql`bot_id = ${botId}`, ...withinBounds(lists, bounds)];
  const where = [...isIndexed(candidates, marksOf(botId, ...period)), ...ofPage.map(unindexed)];
  const matches = [Prisma.sql`true`, ...conditions, ...adjacent].map(unindexed);
  // With a plan of its own, the planner uses the index of texts: else it may read the runs in order, and expect to find
  // enough of them soon.
  const found = await reader.$queryRaw<
    { indexed: number; id: string | null; number: number; bytes: number }[]
  >(Prisma.sql`
    WITH indexed AS MATERIALIZED (
      SELECT id, ${lists.number} AS number, id AS tie, (${Prisma.join(matches, ' AND ')}) AS matches
      FROM runs WHERE ${Prisma.join(where, ' AND ')}
    )
    SELECT counted.indexed, entry.id, entry.number,
      (SELECT ${SEARCHED_BYTES} FROM runs WHERE id = entry.id)::float8 AS bytes
    FROM (SELECT count(*)::float8 AS indexed FROM indexed) AS counted
    LEFT JOIN (
      SELECT id, number, tie FROM indexed WHERE matches ORDER BY ${orderBy(direction)} LIMIT ${take}
    ) AS entry ON true
    ORDER BY ${orderBy(direction)}`);
  return {
    rows: found.flatMap(({ id, number, bytes }) =>
      id === null ? [] : [{ owner: botId, id, place: [number, id] as const, bytes }],
    ),
    indexed: found[0]?.indexed ?? 0,
  };
}
