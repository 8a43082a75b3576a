import { invalidInput } from '../../errors/errors.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { SearchSql } from '../../storage/database.ts';
import type { ListEntry, PageQuery, Place } from '../../storage/keyset.ts';
import {
  firstRows,
  type ListDefinition,
  orderBy,
  type QueryRaw,
  readLists,
  withinBounds,
} from '../../storage/lists.ts';
import { searchTooBroad } from './search-limit.ts';
import { marksOf } from './search-marks.ts';
import { readWords, wordsOf } from './search-words.ts';

/** The other fields of a search's filter. */
type Rest = {
  conditions: Prisma.Sql[];
  /** The runs that match them in list order, with `SEARCHED_BYTES`, if these are few. */
  few?: ListEntry[] | undefined;
  /** A query for the first runs of a page that match them. Absent without other fields. */
  firstRuns?: ((page: PageQuery) => Prisma.Sql) | undefined;
};

/**
 * Finds the finished runs of a bot whose input or reply matches a text, in list order.
 *
 * @throws GatewayError `invalid_request` for several bots, and `search_too_broad`.
 */
export type TextSearch = (
  reader: QueryRaw,
  botIds: string[],
  text: string,
  page: PageQuery,
  rest: Rest,
) => Promise<ListEntry[]>;

/** The words of a run and the marks of its bot. See the migration `filters_of_runs`. */
const LEXEMES = Prisma.sql`run_lexemes(runs.bot_id, runs.created_at, runs.input, runs.response)`;
/** The predicate of the index. */
const FINISHED = Prisma.sql`runs.status IN ('COMPLETED', 'FAILED', 'CANCELLED')`;
/** The bytes of a run that `run_lexemes` reads, at most. */
export const SEARCHED_BYTES = Prisma.sql`
  LEAST(octet_length(input), 32768) + LEAST(COALESCE(octet_length(response), 0), 32768)`;

/** How many of a bot's runs the first search by the index covers. */
const FIRST_RANGE_RUNS = 2_000;
/** If the first search finds at most this number of runs, the word is rare, and the next search covers all runs. */
const RARE = 20;
/** If more runs of the first search contain the text, it is common: it selects fewer runs than other fields may. */
const COMMON = 200;
/** How many runs of the other fields are read in order for a common text. */
const MAX_READ = 3_000;
/** How many candidates one statement finds. */
const CANDIDATES = 100;
/** Bytes of texts that one statement checks for the text. That takes 15 ms on PostgreSQL, and 40 ms on PGlite. */
const SLICE_BYTES = 64 * 1024;
/** Runs that one statement may find by the index on a database that cannot end a statement: 0.12 s on PGlite. */
const MAX_UNENDED = 50_000;

/**
 * Searches by an inverted index, which has no order, in steps: the next 2,000 runs of the bot, then as many as the page
 * probably needs, then all. A common word fills the page from the first steps, and a rare word has few runs in all, so no
 * step reads many runs. The index has no positions: the runs that it finds for a phrase are checked in order.
 *
 * @param maxUnended overrides `MAX_UNENDED`.
 */
export function createTextSearch({
  lists,
  search: { endsStatements },
  maxUnended = MAX_UNENDED,
}: {
  lists: ListDefinition;
  search: Pick<SearchSql, 'endsStatements'>;
  maxUnended?: number | undefined;
}): TextSearch {
  return async (reader, botIds, text, page, { conditions, few, firstRuns }) => {
    const [botId, ...others] = botIds;
    if (botId === undefined) return [];
    if (others.length > 0)
      throw invalidInput([{ path: 'filter.text', message: 'searches one bot at a time' }]);
    const { direction } = page;
    const fields = conditions.map(unindexed);
    const matches = [...containsWords(text).map(unindexed), ...fields];
    const read = (page: PageQuery, rows: Prisma.Sql) =>
      readLists(reader, lists, [botId], page, [], rows);
    /** Conditions of a page, for which the planner uses no index. */
    const ofPage = ({ bounds }: PageQuery) =>
      [Prisma.sql`bot_id = ${botId}`, ...withinBounds(lists, bounds)].map(unindexed);
    /**
     * Finds the first runs of a page by the index of a condition. A subquery with `OFFSET` has a plan of its own: else the
     * planner may read the runs in order, and expect to find enough of them soon.
     */
    const findBy = (page: PageQuery, condition: Prisma.Sql, others: Prisma.Sql[]) =>
      read(
        page,
        Prisma.sql`
          SELECT * FROM (
            SELECT id, ${lists.number} AS number, id AS tie FROM runs
            WHERE ${Prisma.join([condition, FINISHED, ...others, ...ofPage(page)], ' AND ')} OFFSET 0
          ) AS run ORDER BY ${orderBy(page.direction)} LIMIT ${page.take}`,
      );

    /** Adds the candidates that match the filter to the found runs, until these fill the page. */
    const check = async (page: PageQuery, candidates: ListEntry[], found: ListEntry[]) => {
      for (const ids of slicesOf(candidates)) {
        if (found.length >= page.take) return;
        found.push(...(await findBy(page, Prisma.sql`id = ANY(${ids})`, matches)));
      }
    };
    /** Checks the candidates of a source in order, until the page is full. @param most candidates to check. */
    const readThrough = async (
      page: PageQuery,
      source: (page: PageQuery) => Promise<ListEntry[]>,
      most = Infinity,
    ) => {
      const found: ListEntry[] = [];
      const opposite = page.bounds.filter((bound) => bound.direction !== direction);
      let { bounds } = page;
      for (let count = 0; count < most && found.length < page.take; count += CANDIDATES) {
        const part = { bounds, direction, take: CANDIDATES, bytes: SEARCHED_BYTES };
        const candidates = await source(part);
        await check(page, candidates, found);
        const last = candidates[CANDIDATES - 1];
        if (!last) break;
        bounds = [...opposite, { place: last.place, direction }];
      }
      return found.slice(0, page.take);
    };

    if (few) {
      const found: ListEntry[] = [];
      await check(page, few, found);
      return found.slice(0, page.take);
    }
    const words = await readWords(reader, text);
    if (words === undefined) return [];

    let byFields = firstRuns;
    /** Finds the first runs of a page by the index. They contain the words of a phrase in any order. */
    const findByIndex = async (page: PageQuery): Promise<ListEntry[]> => {
      const { take } = page;
      /** The places of the runs after these many runs of the list. Left out where the list has no more. */
      const placesAfter = async (...counts: number[]): Promise<Place[]> => {
        const one = { ...page, take: 1, bytes: undefined };
        const rows = counts.map(
          (runs) => Prisma.sql`(${firstRows(lists, one, [])} OFFSET ${runs})`,
        );
        const found = await read(one, Prisma.join(rows, ' UNION ALL '));
        return found.map(({ place }) => place);
      };
      const indexed = (from: number, to: number) =>
        Prisma.sql`${LEXEMES} @@ (${words.candidates} && ${marksOf(botId, from, to)}::tsquery)`;
      const find = (from: number, to: number) => findBy(page, indexed(from, to), fields);
      const hasMore = async (most: number, from: number, to: number) => {
        const rows = [indexed(from, to), FINISHED, ...ofPage(page)];
        return (await measure(reader, Prisma.join(rows, ' AND '), most)).runs > most;
      };

      const [start, firstEnd] = await placesAfter(0, FIRST_RANGE_RUNS);
      if (start === undefined) return [];
      const first = await find(start[0], firstEnd?.[0] ?? endOf(page));
      if (firstEnd === undefined || first.length >= take) return first;
      if (byFields && (await hasMore(COMMON, start[0], firstEnd[0]))) {
        const rowsOf = byFields;
        byFields = undefined;
        const found = await readThrough(page, (page) => read(page, rowsOf(page)), MAX_READ);
        if (found.length >= take) return found;
      }
      if (first.length > RARE) {
        const [secondEnd] = await placesAfter(
          Math.ceil((2 * FIRST_RANGE_RUNS * take) / first.length),
        );
        const second = await find(start[0], secondEnd?.[0] ?? endOf(page));
        if (secondEnd === undefined || second.length >= take) return second;
      }
      if (!endsStatements && (await hasMore(maxUnended, start[0], endOf(page))))
        throw searchTooBroad();
      return find(start[0], endOf(page));
    };

    return words.isExact ? findByIndex(page) : readThrough(page, findByIndex);
  };
}

/** The ids of runs, in parts of at most `SLICE_BYTES` or one run. */
function* slicesOf(runs: ListEntry[]): Generator<string[]> {
  let slice: string[] = [];
  let bytes = 0;
  for (const run of runs) {
    bytes += run.bytes;
    if (bytes > SLICE_BYTES && slice.length > 0) {
      yield slice;
      slice = [];
      bytes = run.bytes;
    }
    slice.push(run.id);
  }
  if (slice.length > 0) yield slice;
}

/** Counts the runs of a condition and the bytes of their texts, up to one run more than `most`. */
async function measure(reader: QueryRaw, rows: Prisma.Sql, most: number) {
  const [measured] = await reader.$queryRaw<{ runs: number; bytes: number }[]>(Prisma.sql`
    SELECT count(*)::float8 AS runs, COALESCE(sum(bytes), 0)::float8 AS bytes
    FROM (SELECT ${SEARCHED_BYTES} AS bytes FROM runs WHERE ${rows} LIMIT ${most + 1}) AS run`);
  return measured ?? { runs: 0, bytes: 0 };
}

/**
 * Checks that a database that cannot end a statement takes little time for all runs that match a text.
 *
 * @param rows the other conditions of the statement, on the table `runs`.
 * @throws GatewayError `search_too_broad`
 */
export async function assertNarrow(
  reader: QueryRaw,
  text: string,
  marks: string,
  rows: Prisma.Sql,
): Promise<void> {
  const words = await readWords(reader, text);
  if (words === undefined) return;
  const { candidates, isExact } = words;
  const indexed = Prisma.sql`${FINISHED} AND ${LEXEMES} @@ (${candidates} && ${marks}::tsquery)`;
  const { runs, bytes } = await measure(reader, Prisma.sql`${rows} AND ${indexed}`, MAX_UNENDED);
  if (runs > MAX_UNENDED || (!isExact && bytes > 4 * SLICE_BYTES)) throw searchTooBroad();
}

/**
 * The conditions that a run is finished and matches a text.
 *
 * @param text words, "phrases", -exclusions and `or`, as in a web search.
 * @param marks restricts an indexed search; the runs of all bots by default.
 */
export function containsWords(text: string, marks?: string): Prisma.Sql[] {
  const words = wordsOf(text);
  const query = marks === undefined ? words : Prisma.sql`(${words} && ${marks}::tsquery)`;
  return [FINISHED, Prisma.sql`${LEXEMES} @@ ${query}`];
}

/** The end of a page's range that the list reaches last. */
function endOf({ bounds, direction }: PageQuery): number {
  const ends = bounds.filter((bound) => bound.direction !== direction).map(({ place }) => place[0]);
  return direction === 'desc' ? Math.max(...ends, -Infinity) : Math.min(...ends, Infinity);
}

/** The same condition, in a form for which the planner uses no index. */
export function unindexed(condition: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(${condition}) IS TRUE`;
}
