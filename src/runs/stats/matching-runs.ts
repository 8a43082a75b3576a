import { GatewayError } from '../../errors/errors.ts';
import { FeedbackRating, Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../storage/database.ts';
import { moment } from '../../storage/moment.ts';
import { type Candidates, candidatesOf, ratedRuns } from '../list/candidates.ts';
import { conditionsOf, type RunFilter } from '../list/filter.ts';
import { levelOf } from '../list/levels.ts';
import { channelOf } from '../record/entrance.ts';
import { assertNarrow, containsWords, unindexed } from '../search/search-conditions.ts';
import { limitedReader } from '../search/search-limit.ts';
import { marksOf } from '../search/search-marks.ts';
import { boundsBetween, type StatsQuestion, timeRangeOf } from './stats-period.ts';

/** Entries of one index whose runs statistics read one by one, of all their bots together, at most. */
export const MAX_READ = 30_000;
/** Entries that are few. */
const FEW = 1_000;

/** Reads the matching runs of bots one by one, for statistics that neither totals nor another index can answer. */
export type ReadMatchingRuns = <Rows>(
  botIds: string[],
  question: StatsQuestion,
  /** @param runs the runs as items of a FROM clause, with the names `owner` for the bot and `runs`. */
  statement: (runs: Prisma.Sql) => Prisma.Sql,
  options?: {
    /** Whether only runs with a rating matter. */
    isRated?: boolean;
  },
) => Promise<Rows>;

/**
 * The work is bounded before it is done: statements read runs by the index that has the fewest entries for one field of the
 * filter, and none if each has too many. With a text, they have the limits of a search instead.
 */
export function createReadMatchingRuns({
  prisma,
  search,
  maxRead = MAX_READ,
}: Pick<Database, 'prisma' | 'search'> & { maxRead?: number | undefined }): ReadMatchingRuns {
  /**
   * The candidates with the fewest entries; `undefined` if all have too many. A few entries of each are counted first, because
   * the other fields usually have many.
   *
   * @param candidates have at most a number of entries for each bot.
   */
  const fewest = async (botIds: string[], candidates: (most: number) => Candidates[]) => {
    for (const most of [Math.min(FEW, maxRead), maxRead]) {
      const all = candidates(most + 1);
      const counts = all.map(
        ({ entries }) => Prisma.sql`
          (SELECT count(*) FROM (
            SELECT 1 FROM unnest(${botIds}::text[]) AS owner(id) CROSS JOIN LATERAL (${entries}) AS entry
            LIMIT ${most + 1}
          ) AS read)`,
      );
      const [row] = await prisma.$queryRaw<{ counts: number[] }[]>`
        SELECT ARRAY[${Prisma.join(counts)}]::int[] AS counts`;
      const read = row?.counts ?? [];
      const least = Math.min(...read);
      if (least <= most) return all[read.indexOf(least)];
    }
    return undefined;
  };

  return async <Rows>(
    botIds: string[],
    question: StatsQuestion,
    statement: (runs: Prisma.Sql) => Prisma.Sql,
    { isRated = false } = {},
  ) => {
    const range = timeRangeOf(question);
    const { text, date: _, from: __, to: ___, ...filter } = question.filter ?? {};
    const conditions = conditionsOf({ ...filter, feedback: undefined });
    if (filter.feedback != null) conditions.push(hasRating(filter.feedback));
    if (text == null) {
      const bounds = { from: new Date(range.from), to: new Date(range.to) };
      const candidates = await fewest(botIds, (most) => [
        ...partsOf(filter).map((part) => candidatesOf({ ...part, ...bounds }, most)),
        ...(isRated ? [ratedRuns(Object.values(FeedbackRating), boundsBetween(range), most)] : []),
      ]);
      if (!candidates) throw tooMany(isRated ? 'ratings' : 'runs');
      return prisma.$queryRaw<Rows>(
        statement(Prisma.sql`
          unnest(${botIds}::text[]) AS owner(id) CROSS JOIN LATERAL (
            SELECT * FROM (${candidates.runs}) AS runs WHERE ${Prisma.join(conditions, ' AND ')}
          ) AS runs`),
      );
    }
    // The marks select the bot and the time.
    const owned = [
      Prisma.sql`bot_id = ANY(${botIds})`,
      Prisma.sql`created_at >= ${moment(range.from)}`,
      Prisma.sql`created_at < ${moment(range.to)}`,
    ];
    const others = Prisma.join([...owned.map(unindexed), ...conditions], ' AND ');
    const reader = limitedReader(search);
    const marks = marksIn(botIds, question);
    if (!search.endsStatements) await assertNarrow(reader, text, marks, others);
    const where = Prisma.join([others, ...containsWords(text, marks)], ' AND ');
    return reader.$queryRaw<Rows>(
      statement(Prisma.sql`
        (SELECT * FROM runs WHERE ${where}) AS runs CROSS JOIN LATERAL (SELECT runs.bot_id AS id) AS owner`),
    );
  };
}

/** The parts of a filter that each have an index. The others are conditions on the runs of one of them. */
function partsOf(filter: RunFilter): RunFilter[] {
  const { user, errorCode, deploymentId, model, minLatencyMs, minTokens, feedback } = filter;
  const { entrance, kind, environment, channel, status } = filter;
  const entered = entrance?.map(channelOf);
  const channels = entered && channel ? channel.filter((one) => entered.includes(one)) : entered;
  const enums = { kind, environment, channel: channels ?? channel, status };
  return [
    enums,
    ...(user == null ? [] : [{ ...enums, user }]),
    ...(deploymentId == null ? [] : [{ ...enums, deploymentId }]),
    ...(model == null ? [] : [{ ...enums, model }]),
    ...(errorCode == null ? [] : [{ ...enums, errorCode }]),
    // Whole levels, so that each entry of the index is a candidate.
    ...(minLatencyMs == null ? [] : [{ minLatencyMs: levelOf(minLatencyMs) }]),
    ...(minTokens == null ? [] : [{ minTokens: levelOf(minTokens) }]),
    ...(feedback == null ? [] : [{ feedback }]),
  ];
}

/** Looks up each run. With `EXISTS` the planner may read all ratings. */
function hasRating(rating: FeedbackRating): Prisma.Sql {
  return Prisma.sql`
    (SELECT true FROM feedback WHERE run_id = runs.id AND rating = ${rating}::"FeedbackRating" LIMIT 1) IS TRUE`;
}

/** Creates the error of statistics that would take too much work. */
export function tooMany(what: 'runs' | 'ratings'): GatewayError {
  const message =
    what === 'runs'
      ? 'Too many runs match for statistics with this filter. Choose a shorter time, or filter by nothing but time, kind, environment, channel and status.'
      : 'Too many ratings match to count them. Choose a shorter time.';
  return new GatewayError('search_too_broad', message);
}

/** The marks of the runs of a question, for a search. */
function marksIn(botIds: string[], { from, to }: StatsQuestion): string {
  const [botId = ''] = botIds;
  return botIds.length === 1
    ? marksOf(botId, from.getTime(), to.getTime())
    : botIds.map((id) => marksOf(id, -Infinity, Infinity)).join(' | ');
}
