import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import { moment } from '../../storage/moment.ts';
import type { ReadMatchingRuns } from './matching-runs.ts';
import { hasOnlyTime, partOf, type StatsQuestion, timeRangeOf, type Unit } from './stats-period.ts';

/** How many runs have a rating, by at least one author. */
export type Ratings = { up: number; down: number };

/** The ratings of the runs of a bot in a part of a period. */
type Row = Ratings & { botId: string; part: number };

/** Counts the ratings of the runs that match, for each day or hour, or without a unit for the whole period. */
export function createCountRatings({
  prisma,
  readMatching,
}: {
  prisma: PrismaClient;
  readMatching: ReadMatchingRuns;
}) {
  const countOneByOne = (botIds: string[], question: StatsQuestion, unit: Unit | undefined) =>
    readMatching<Row[]>(
      botIds,
      question,
      (where) => Prisma.sql`
      SELECT bot_id AS "botId", ${partOf(unit)} AS part,
        (count(DISTINCT id) FILTER (WHERE rating = 'UP'))::float8 AS up,
        (count(DISTINCT id) FILTER (WHERE rating = 'DOWN'))::float8 AS down
      FROM runs JOIN (
        SELECT run_id, rating FROM feedback WHERE bot_id = ANY(${botIds})
          AND run_created_at >= ${moment(question.from.getTime())}
          AND run_created_at < ${moment(question.to.getTime())}
      ) AS rated ON rated.run_id = runs.id
      WHERE ${where} GROUP BY 1, 2`,
    );

  /** Counts the ratings by their index, without reading their runs. */
  const countByTime = (botIds: string[], question: StatsQuestion, unit: Unit | undefined) => {
    const { from, to } = timeRangeOf(question);
    return prisma.$queryRaw<Row[]>`
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
            AND run_created_at >= ${moment(from)} AND run_created_at < ${moment(to)}
            AND run_id NOT IN (SELECT id FROM runs WHERE bot_id = ANY(${botIds}) AND kind = 'DRAFT')
        ) AS run GROUP BY 1
      ) AS rated GROUP BY 1, 2`;
  };

  return (botIds: string[], question: StatsQuestion, unit: Unit | undefined) =>
    hasOnlyTime(question.filter ?? {})
      ? countByTime(botIds, question, unit)
      : countOneByOne(botIds, question, unit);
}
