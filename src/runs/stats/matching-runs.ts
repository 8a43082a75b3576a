import { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../storage/database.ts';
import { moment } from '../../storage/moment.ts';
import { matches } from '../list/filter.ts';
import { assertNarrow, containsWords, unindexed } from '../search/search-conditions.ts';
import { limitedReader } from '../search/search-limit.ts';
import { marksOf } from '../search/search-marks.ts';
import type { StatsQuestion } from './stats-period.ts';

/** Reads the matching runs of bots one by one, for statistics that neither totals nor another index can answer. */
export type ReadMatchingRuns = <Rows>(
  botIds: string[],
  question: StatsQuestion,
  /** @param where the conditions on the table `runs`. */
  statement: (where: Prisma.Sql) => Prisma.Sql,
) => Promise<Rows>;

/** The statements have the limits of a search if the filter has a text. */
export function createReadMatchingRuns({
  prisma,
  search,
}: Pick<Database, 'prisma' | 'search'>): ReadMatchingRuns {
  return async <Rows>(
    botIds: string[],
    question: StatsQuestion,
    statement: (where: Prisma.Sql) => Prisma.Sql,
  ) => {
    const text = question.filter?.text;
    const owned = [
      Prisma.sql`bot_id = ANY(${botIds})`,
      Prisma.sql`created_at >= ${moment(question.from.getTime())}`,
      Prisma.sql`created_at < ${moment(question.to.getTime())}`,
    ];
    const fields = matches({ ...question.filter, text: undefined });
    if (text == null)
      return prisma.$queryRaw<Rows>(statement(Prisma.join([...owned, ...fields], ' AND ')));
    // The marks select the bot and the time.
    const others = Prisma.join([...owned.map(unindexed), ...fields], ' AND ');
    const reader = limitedReader(search);
    const marks = marksIn(botIds, question);
    if (!search.endsStatements) await assertNarrow(reader, text, marks, others);
    return reader.$queryRaw<Rows>(
      statement(Prisma.join([others, ...containsWords(text, marks)], ' AND ')),
    );
  };
}

/** The marks of the runs of a question, for a search. */
function marksIn(botIds: string[], { from, to }: StatsQuestion): string {
  const [botId = ''] = botIds;
  return botIds.length === 1
    ? marksOf(botId, from.getTime(), to.getTime())
    : botIds.map((id) => marksOf(id, -Infinity, Infinity)).join(' | ');
}
