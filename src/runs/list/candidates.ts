import { type FeedbackRating, Prisma } from '../../generated/prisma/client.ts';
import type { PageQuery } from '../../storage/keyset.ts';
import { columnsIn, type ListDefinition, withinBounds } from '../../storage/lists.ts';
import { branchesOf } from './branches.ts';
import { boundsOf, conditionsOf, type RunFilter } from './filter.ts';
import { RATINGS, RUNS } from './list.ts';

/**
 * Queries that read the newest entries of one index for the bot `owner.id`, at most a number of them. No entry is passed
 * over but for the conditions of the field itself.
 */
export type Candidates = {
  /** A row for each entry. */
  entries: Prisma.Sql;
  /** The runs of the entries. */
  runs: Prisma.Sql;
};

/** The runs that one field of a filter without a text selects, and the conditions of the other fields. */
export function candidatesOf(filter: RunFilter, most: number): Candidates & { rest: Prisma.Sql[] } {
  const { feedback, ...others } = filter;
  if (feedback != null)
    return { ...ratedRuns([feedback], boundsOf(filter), most), rest: conditionsOf(others) };
  const { rows, same, rest } = branchesOf(filter) ?? {
    rows: Prisma.sql`(SELECT 1) AS branch`,
    same: [],
    rest: conditionsOf(filter),
  };
  const conditions = [
    Prisma.sql`bot_id = owner.id`,
    ...same,
    ...withinBounds(RUNS, boundsOf(filter)),
  ];
  // The order makes the planner read a range of the index for each branch.
  const runs = Prisma.sql`
    SELECT run.* FROM ${rows} CROSS JOIN LATERAL (
      SELECT runs.* FROM runs WHERE ${Prisma.join(conditions, ' AND ')} ${newestFirst(RUNS, most)}
    ) AS run LIMIT ${most}`;
  return { entries: runs, runs, rest };
}

/** Runs with any of some ratings. */
export function ratedRuns(
  ratings: FeedbackRating[],
  bounds: PageQuery['bounds'],
  most: number,
): Candidates {
  const where = [
    Prisma.sql`bot_id = owner.id`,
    Prisma.sql`feedback.rating = given.rating`,
    ...withinBounds(RATINGS, bounds),
  ];
  const entries = Prisma.sql`
    SELECT entry.* FROM unnest(${ratings}::text[]::"FeedbackRating"[]) AS given(rating) CROSS JOIN LATERAL (
      SELECT run_created_at, run_id FROM feedback
      WHERE ${Prisma.join(where, ' AND ')} ${newestFirst(RATINGS, most)}
    ) AS entry LIMIT ${most}`;
  return {
    entries,
    runs: Prisma.sql`
      SELECT runs.* FROM (SELECT DISTINCT run_created_at, run_id FROM (${entries}) AS entry) AS rated
      JOIN runs ON runs.id = rated.run_id`,
  };
}

/** The order of the index, with a bound on what one scan of it reads. */
function newestFirst(lists: Pick<ListDefinition, 'columns' | 'direction'>, most: number) {
  return Prisma.sql`ORDER BY ${columnsIn(lists.columns, lists.direction)} LIMIT ${most}`;
}
