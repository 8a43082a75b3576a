import { FeedbackRating, Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import { moment } from '../../storage/moment.ts';
import { ratedRuns } from '../list/candidates.ts';
import { type ReadMatchingRuns, tooMany } from './matching-runs.ts';
import {
  boundsBetween,
  hasOnlyTime,
  partOf,
  type StatsQuestion,
  type TimeRange,
  timeRangeOf,
  type Unit,
} from './stats-period.ts';

/** Ratings of all bots together that statistics count by their index, at most. */
export const MAX_RATINGS = 200_000;

/** How many runs have a rating, by at least one author. */
export type Ratings = { up: number; down: number };

/** The ratings of the runs of a bot in a part of a period. */
export type RatingRow = Ratings & { botId: string; part: number };

/** Counts the ratings of the runs that match, for each day or hour that has any. */
export function createCountRatings({
  prisma,
  readMatching,
  maxRatings = MAX_RATINGS,
}: {
  prisma: PrismaClient;
  readMatching: ReadMatchingRuns;
  maxRatings?: number | undefined;
}) {
  const countOneByOne = (botIds: string[], question: StatsQuestion, unit: Unit) =>
    readMatching<RatingRow[]>(
      botIds,
      question,
      (runs) => Prisma.sql`
        SELECT owner.id AS "botId", ${partOf(unit, Prisma.sql`runs.created_at`)} AS part,
          (count(*) FILTER (WHERE given.up))::float8 AS up, (count(*) FILTER (WHERE given.down))::float8 AS down
        FROM ${runs} CROSS JOIN LATERAL (
          SELECT bool_or(rating = 'UP') AS up, bool_or(rating = 'DOWN') AS down FROM feedback WHERE run_id = runs.id
        ) AS given
        WHERE given.up OR given.down GROUP BY 1, 2`,
      { isRated: true },
    );

  /** @throws GatewayError `search_too_broad` */
  const assertFew = async (botIds: string[], range: TimeRange) => {
    const most = maxRatings + 1;
    const { entries } = ratedRuns(Object.values(FeedbackRating), boundsBetween(range), most);
    const [read] = await prisma.$queryRaw<{ count: number }[]>`
      SELECT count(*)::int AS count FROM (
        SELECT 1 FROM unnest(${botIds}::text[]) AS owner(id) CROSS JOIN LATERAL (${entries}) AS entry LIMIT ${most}
      ) AS read`;
    if ((read?.count ?? 0) > maxRatings) throw tooMany('ratings');
  };

  /** Counts the ratings by their index, without reading their runs. */
  const countByTime = async (botIds: string[], question: StatsQuestion, unit: Unit) => {
    const range = timeRangeOf(question);
    await assertFew(botIds, range);
    return prisma.$queryRaw<RatingRow[]>`
      SELECT owner.id AS "botId", rated.part,
        COALESCE(sum(rated.runs) FILTER (WHERE given.rating = 'UP'), 0) AS up,
        COALESCE(sum(rated.runs) FILTER (WHERE given.rating = 'DOWN'), 0) AS down
      FROM unnest(${botIds}::text[]) AS owner(id)
      CROSS JOIN unnest(enum_range(NULL::"FeedbackRating")) AS given(rating)
      CROSS JOIN LATERAL (
        SELECT ${partOf(unit, Prisma.sql`run_created_at`)} AS part, count(*)::float8 AS runs
        FROM (
          SELECT DISTINCT run_created_at, run_id FROM feedback
          WHERE bot_id = owner.id AND rating = given.rating
            AND run_created_at >= ${moment(range.from)} AND run_created_at < ${moment(range.to)}
            AND run_id NOT IN (SELECT id FROM runs WHERE bot_id = ANY(${botIds}) AND kind = 'DRAFT')
        ) AS run GROUP BY 1
      ) AS rated GROUP BY 1, 2`;
  };

  return (botIds: string[], question: StatsQuestion, unit: Unit): Promise<RatingRow[]> =>
    hasOnlyTime(question.filter ?? {})
      ? countByTime(botIds, question, unit)
      : countOneByOne(botIds, question, unit);
}
