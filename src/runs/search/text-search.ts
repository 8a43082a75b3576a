import { invalidInput } from '../../errors/errors.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { SearchSql } from '../../storage/database.ts';
import type { Found, ListEntry, PageQuery, Place } from '../../storage/keyset.ts';
import { firstRows, type ListDefinition, readLists } from '../../storage/lists.ts';
import { findIndexed } from './find-indexed.ts';
import { containsWords, MAX_UNENDED, slicesOf, unindexed } from './search-conditions.ts';
import { isTooBroad, type SearchReader } from './search-limit.ts';
import { readWords } from './search-words.ts';
import {
  FIRST_WINDOW_RUNS,
  growthOf,
  PAGE_WORK,
  WINDOW_MS,
  workOfCheck,
  workOfWindow,
} from './search-work.ts';

/** The other fields of a search's filter. */
type Rest = {
  conditions: Prisma.Sql[];
  /** The runs that match them in list order, with `SEARCHED_BYTES`, if these are few. */
  few?: ListEntry[] | undefined;
  /** A query for the first runs of a page that match them. Absent without other fields. */
  firstRuns?: ((page: PageQuery) => Prisma.Sql) | undefined;
};

/**
 * Finds the finished runs of a bot whose input or reply matches a text, in list order. A page that is not full after the
 * work of `SearchBounds.pageWork` ends at the position that the search has reached.
 *
 * @throws GatewayError `invalid_request` for several bots, and `search_too_broad` if the first step takes too long.
 */
export type TextSearch = (
  reader: SearchReader,
  botIds: string[],
  text: string,
  page: PageQuery,
  rest: Rest,
) => Promise<Found>;

/** The bounds of the work for one page of a search. */
export type SearchBounds = {
  /** The runs of the bot that the first window covers. */
  firstWindowRuns?: number | undefined;
  /** When a page ends that is not full, see `PAGE_WORK`. */
  pageWork?: number | undefined;
  /** The runs of the bot that a window covers on a database that cannot end a statement. */
  maxUnended?: number | undefined;
};

/** The size of a window: its time in milliseconds, and about how many runs of the bot it has. */
type Size = { span: number; runs: number };
/** The times of the first and the last run of a list. */
type Ends = { start?: number | undefined; last?: number | undefined };

/** The first window of a phrase covers this part of the usual runs, because each takes more work. */
const PHRASE_PART = 4;
/** Candidates of a phrase that one statement finds. */
const CANDIDATES = 1_000;

/**
 * Searches by an inverted index, which has no order, in windows of time: the next 2,000 runs of the bot, then windows that
 * are the longer, the fewer runs the last one read and found. The runs of a bot have marks of their time in the index, so
 * the work of a window depends on its own runs. The index has no positions: the runs that it finds for a phrase are checked
 * in order.
 */
export function createTextSearch({
  lists,
  search: { endsStatements },
  bounds: {
    firstWindowRuns = FIRST_WINDOW_RUNS,
    pageWork = PAGE_WORK,
    maxUnended = MAX_UNENDED,
  } = {},
}: {
  lists: ListDefinition;
  search: Pick<SearchSql, 'endsStatements'>;
  bounds?: SearchBounds | undefined;
}): TextSearch {
  return async (reader, botIds, text, page, { conditions, few, firstRuns }) => {
    const [botId, ...others] = botIds;
    if (botId === undefined) return { rows: [] };
    if (others.length > 0)
      throw invalidInput([{ path: 'filter.text', message: 'searches one bot at a time' }]);
    const { direction, take } = page;
    const opposite = direction === 'desc' ? 'asc' : 'desc';
    const matches = [Prisma.sql`bot_id = ${botId}`, ...containsWords(text), ...conditions].map(
      unindexed,
    );
    const laterRuns = endsStatements ? Infinity : maxUnended;
    let left = pageWork;

    const read = (page: PageQuery, rows: Prisma.Sql) =>
      readLists(reader, lists, [botId], page, [], rows);
    /** Finds the candidates that match the filter, until these fill the page or its work is done. */
    const check = async (candidates: ListEntry[], missing: number): Promise<Found> => {
      const rows: ListEntry[] = [];
      let reached: Place | undefined;
      for (const slice of slicesOf(candidates)) {
        if (reached && left <= 0) return { rows, reached };
        // With `OFFSET`, the planner cannot read the runs in list order until it has found these.
        const where = [Prisma.sql`id = ANY(${slice.map(({ id }) => id)})`, ...matches];
        const matching = Prisma.sql`
          SELECT id, ${lists.number} AS number, id AS tie FROM runs
          WHERE ${Prisma.join(where, ' AND ')} OFFSET 0`;
        const found = await read(page, matching).catch(unless(!reached));
        if (!found) return { rows, reached };
        rows.push(...found);
        if (rows.length >= missing) return { rows: rows.slice(0, missing) };
        left -= workOfCheck(slice.reduce((sum, { bytes }) => sum + bytes, 0));
        reached = slice.at(-1)?.place;
      }
      return { rows };
    };

    if (few) return check(few, take);
    const words = await readWords(reader, text);
    if (words === undefined) return { rows: [] };

    /** Finds the times of the first and the last run within bounds that match the other fields. */
    const findEnds = async (bounds: PageQuery['bounds']): Promise<Ends> => {
      const rowsOf = firstRuns ?? ((page: PageQuery) => firstRows(lists, page, []));
      const one = { bounds, direction, take: 1 };
      const [first, last] = [rowsOf(one), rowsOf({ ...one, direction: opposite })];
      const found = await read(one, Prisma.sql`(${first}) UNION ALL (${last})`);
      return { start: found[0]?.place[0], last: found.at(-1)?.place[0] };
    };
    /** The time of the run that follows so many runs of the bot. Infinite if there are not so many. */
    const timeAfter = async (runs: number, start: number) => {
      // An empty id is before all runs of its millisecond.
      const from: Place = [direction === 'desc' ? start + 1 : start, ''];
      const one = { bounds: [...page.bounds, { place: from, direction }], direction, take: 1 };
      const [found] = await read(one, Prisma.sql`${firstRows(lists, one, [])} OFFSET ${runs}`);
      return found?.place[0] ?? (direction === 'desc' ? -Infinity : Infinity);
    };
    /** The end of a window of as many runs and as much time at most. The runs of one millisecond are in one window. */
    const endOf = async (start: number, mostRuns: number, span: number) => {
      const byRuns = mostRuns === Infinity ? undefined : await timeAfter(mostRuns, start);
      if (direction === 'desc') return Math.max(byRuns ?? -Infinity, start - span);
      return Math.max(Math.min(byRuns ?? Infinity, start + span), start + 1);
    };
    let ends: Ends = {};
    /** Searches the window that begins at a position, by default at the start of the page. */
    const searchWindow = async (from: Place | undefined, { span, runs }: Size, missing: number) => {
      const bounds = from ? [...page.bounds, { place: from, direction }] : page.bounds;
      if (!from || firstRuns) ends = await findEnds(bounds);
      else ends = { ...ends, start: from[0] };
      const { start, last } = ends;
      if (start === undefined || last === undefined)
        return { rows: [], reached: undefined, spanMs: 1, work: 1 };

      const end = await endOf(start, from ? laterRuns : runs, span);
      const isLast = direction === 'desc' ? end <= last : end > last;
      const by = from ? reader.within(WINDOW_MS) : reader;
      const { rows, indexed } = await findIndexed(
        by,
        lists,
        botId,
        {
          bounds: isLast ? bounds : [...bounds, { place: [end, ''], direction: opposite }],
          direction,
          take: words.isExact ? missing : CANDIDATES,
        },
        { words, period: [start, isLast ? last : end], conditions },
      );
      const before = left;
      left -= workOfWindow(runs, indexed, !words.isExact);
      const checked = words.isExact ? { rows } : await check(rows, missing);
      const candidate = words.isExact ? undefined : rows[CANDIDATES - 1]?.place;
      const reached: Place | undefined =
        checked.reached ?? candidate ?? (isLast ? undefined : [end, '']);
      const spanMs = Math.max(1, Math.abs((reached?.[0] ?? last) - start));
      return { rows: checked.rows, reached, spanMs, work: before - left };
    };

    const rows: ListEntry[] = [];
    let reached: Place | undefined;
    let size: Size = {
      span: Infinity,
      runs: Math.ceil(words.isExact ? firstWindowRuns : firstWindowRuns / PHRASE_PART),
    };
    for (;;) {
      const found = await searchWindow(reached, size, take - rows.length).catch(unless(!reached));
      if (!found) return { rows, reached };
      rows.push(...found.rows);
      const { reached: end, spanMs, work } = found;
      if (rows.length >= take || !end) return { rows };
      reached = end;
      const growth = growthOf({ work, found: found.rows.length }, take - rows.length, left);
      if (growth === undefined) return { rows, reached };
      size = { span: Math.ceil(growth * spanMs), runs: growth * size.runs };
    }
  };
}

/** Handles the error of a statement that took too long. Others are thrown, and this one too if there is no page without it. */
function unless(isNeeded: boolean) {
  return (error: unknown) => {
    if (isNeeded || !isTooBroad(error)) throw error;
    return undefined;
  };
}
