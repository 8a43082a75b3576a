import { type FeedbackRating, Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../storage/database.ts';
import type { Found, PageQuery } from '../../storage/keyset.ts';
import {
  columnsIn,
  firstRows,
  type ListDefinition,
  NEWEST_FIRST,
  orderBy,
  type QueryRaw,
  readLists,
  withinBounds,
} from '../../storage/lists.ts';
import { SEARCHED_BYTES, unindexed } from '../search/search-conditions.ts';
import { limitedReader } from '../search/search-limit.ts';
import { createTextSearch, type SearchBounds } from '../search/text-search.ts';
import { branchesOf, hasOnlyTimeOrText } from './branches.ts';
import { boundsOf, conditionsOf, matches, type RunFilter } from './filter.ts';

/** Lists the runs of bots. */
export type RunList = {
  /**
   * Reads one page per bot. The cost depends on the page's size only, not on how rare the matching runs are, for each
   * field of the filter alone; a rare entrance takes the entries of one index. A search for a text ends after a bounded amount of work, also if the page is not full.
   *
   * @throws GatewayError `invalid_request` for a text search of several bots, `search_too_broad` for one whose first step
   *   takes longer than 2 seconds.
   */
  find(botIds: string[], filter: RunFilter, page: PageQuery): Promise<Found>;
  /** Whether a run belongs to the bot and matches the filter. */
  has(botId: string, filter: RunFilter, runId: string): Promise<boolean>;
};

/** Runs per bot, newest first. */
export const RUNS: ListDefinition = {
  ...NEWEST_FIRST,
  table: Prisma.sql`runs`,
  owner: Prisma.sql`bot_id`,
};

/** Ratings per bot, in the order of their runs. */
export const RATINGS = {
  ...NEWEST_FIRST,
  columns: [Prisma.sql`run_created_at`, Prisma.sql`run_id`],
} satisfies Partial<ListDefinition>;

/** A filter with fewer runs than this is cheaper to read one by one than a common word or a low minimum by its index. */
const FEW = 500;

/** @param searchBounds overrides the bounds of a search for a text. */
export function createRunList({
  prisma,
  search,
  searchBounds,
}: Pick<Database, 'prisma' | 'search'> & { searchBounds?: SearchBounds }): RunList {
  const findText = createTextSearch({ lists: RUNS, search, bounds: searchBounds });

  /** Reads a page by the index of one field. The other fields do not select the index. */
  const findBy = (
    reader: QueryRaw,
    botIds: string[],
    filter: RunFilter,
    page: PageQuery,
    options?: RowOptions,
  ) => readLists(reader, RUNS, botIds, page, [], rowsBy(filter, page, options));

  /**
   * The runs from the page on that match a part of the filter; `undefined` if they are not few. Stops at the first runs in
   * any order.
   */
  const fewWith = async (reader: QueryRaw, botIds: string[], part: RunFilter, page: PageQuery) => {
    const found = await findBy(reader, botIds, part, { ...page, take: FEW }, { isOrdered: false });
    return found.length < FEW ? found : undefined;
  };

  /** As `fewWith`, for the first part that few runs match. A filter of one part has none. */
  const fewWithAny = async (botIds: string[], parts: RunFilter[], page: PageQuery) => {
    const selecting = parts.filter((part) => !hasOnlyTimeOrText(part));
    if (selecting.length < 2) return undefined;
    for (const part of selecting) {
      const few = await fewWith(prisma, botIds, part, { ...page, bytes: undefined });
      if (few) return few.map(({ id }) => id);
    }
    return undefined;
  };

  return {
    async find(botIds, filter, pageOfAll) {
      const page = { ...pageOfAll, bounds: [...pageOfAll.bounds, ...boundsOf(filter)] };
      const { text, ...withoutText } = filter;
      if (text != null) {
        const reader = limitedReader(search);
        const few = hasOnlyTimeOrText(filter)
          ? undefined
          : await fewWith(reader, botIds, withoutText, { ...page, bytes: SEARCHED_BYTES });
        return findText(reader, botIds, text, page, {
          few,
          conditions: conditionsOf(withoutText),
          firstRuns: hasOnlyTimeOrText(filter) ? undefined : (page) => rowsBy(withoutText, page),
        });
      }
      const { errorCode, minLatencyMs, minTokens, feedback, ...fields } = filter;
      const parts = [fields, { errorCode }, { minLatencyMs }, { minTokens }, { feedback }];
      const few = await fewWithAny(botIds, parts, page);
      if (!few) return { rows: await findBy(prisma, botIds, filter, page) };
      const conditions = [idIn(few), ...conditionsOf(filter).map(unindexed)];
      return { rows: await readLists(prisma, RUNS, botIds, page, conditions) };
    },

    async has(botId, filter, id) {
      const conditions = [
        Prisma.sql`id = ${id}`,
        Prisma.sql`bot_id = ${botId}`,
        ...matches(filter).map(unindexed),
      ];
      const found = await prisma.$queryRaw<unknown[]>`
        SELECT 1 FROM runs WHERE ${Prisma.join(conditions, ' AND ')}`;
      return found.length > 0;
    },
  };
}

type RowOptions = {
  /** Whether the rows are in list order, the default. */
  isOrdered?: boolean;
};

/** A query for the first runs of one bot that match a filter without a text, by the index of one field. */
function rowsBy(filter: RunFilter, page: PageQuery, { isOrdered = true }: RowOptions = {}) {
  if (filter.feedback != null) return rated(filter, filter.feedback, page);
  const branches = branchesOf(filter);
  if (branches === undefined) return firstRows(RUNS, page, conditionsOf(filter));
  const conditions = [...branches.same, ...branches.rest.map(unindexed)];
  return Prisma.sql`
    SELECT run.* FROM ${branches.rows} CROSS JOIN LATERAL (${firstRows(RUNS, page, conditions)}) AS run
    ${isOrdered ? Prisma.sql`ORDER BY ${orderBy(page.direction)}` : Prisma.empty} LIMIT ${page.take}`;
}

/** The first runs with a rating that match the rest of the filter. The ratings have the order of the list. */
function rated(filter: RunFilter, rating: FeedbackRating, { bounds, direction, take }: PageQuery) {
  const conditions = [
    Prisma.sql`feedback.bot_id = owner.id`,
    Prisma.sql`rating = ${rating}::"FeedbackRating"`,
    ...withinBounds(RATINGS, bounds),
    ...conditionsOf({ ...filter, feedback: undefined }).map(unindexed),
  ];
  return Prisma.sql`
    SELECT DISTINCT ON (run_created_at, run_id) run_id AS id,
      (extract(epoch FROM run_created_at) * 1000)::float8 AS number, run_id AS tie
    FROM feedback JOIN runs ON runs.id = run_id
    WHERE ${Prisma.join(conditions, ' AND ')} ORDER BY ${columnsIn(RATINGS.columns, direction)} LIMIT ${take}`;
}

function idIn(ids: string[]): Prisma.Sql {
  return Prisma.sql`id = ANY(${ids})`;
}
