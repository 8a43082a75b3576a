import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import { MAX_COUNTED_RUNS } from '../../vocabulary/run-counts.ts';
import { candidatesOf } from './candidates.ts';
import type { RunFilter } from './filter.ts';

/** Runs that one count reads by the index of one field, at most. */
export const MAX_READ = 5_000;

/**
 * Counts the runs of each bot that match a filter, by the same indexes as a page of the list. The work is bounded: a
 * count reads at most `MAX_READ` entries of one index.
 *
 * @returns a function from a bot's id to the number, at most `MAX_COUNTED_RUNS`; `undefined` if it is unknown after the most
 *   work, or if the filter has a text.
 */
export async function countMatches(
  prisma: Pick<PrismaClient, '$queryRaw'>,
  botIds: string[],
  filter: RunFilter,
): Promise<(botId: string) => number | undefined> {
  if (filter.text != null) return () => undefined;
  const { runs, rest } = candidatesOf(filter, MAX_READ);
  const isMatch = Prisma.join([Prisma.sql`true`, ...rest], ' AND ');
  const rows = await prisma.$queryRaw<{ id: string; read: number; found: number }[]>`
    SELECT owner.id, counted.read, counted.found
    FROM unnest(${botIds}::text[]) AS owner(id) CROSS JOIN LATERAL (
      SELECT count(*)::int AS read, (count(*) FILTER (WHERE ${isMatch}))::int AS found
      FROM (${runs}) AS runs
    ) AS counted`;
  const byBot = new Map(rows.map((row) => [row.id, row]));
  return (botId) => {
    const { read = 0, found = 0 } = byBot.get(botId) ?? {};
    return read < MAX_READ || found >= MAX_COUNTED_RUNS
      ? Math.min(found, MAX_COUNTED_RUNS)
      : undefined;
  };
}
