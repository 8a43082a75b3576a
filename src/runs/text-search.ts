import { invalidInput } from '../errors.ts';
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import type { ListEntry, PageQuery, Place } from '../storage/keyset.ts';
import { firstRows, type ListDefinition, orderBy, readLists } from '../storage/lists.ts';

/** The other fields of a search's filter. */
type Rest = {
  conditions: Prisma.Sql[];
  /** The ids of the runs that match them, if these are few. */
  few?: string[] | undefined;
  /** A query for the first runs of a page that match them. Absent without other fields. */
  firstRuns?: ((page: PageQuery) => Prisma.Sql) | undefined;
};

/**
 * Finds the finished runs of a bot whose input or reply matches a text, in list order.
 *
 * @throws GatewayError `invalid_request` for several bots.
 */
export type TextSearch = (
  botIds: string[],
  text: string,
  page: PageQuery,
  rest: Rest,
) => Promise<ListEntry[]>;

/** The words of a run and the marks of its bot. See the migration `filters_of_runs`. */
const LEXEMES = Prisma.sql`run_lexemes(runs.bot_id, runs.created_at, runs.input, runs.response)`;
/** The predicate of the index. */
const FINISHED = Prisma.sql`runs.status IN ('COMPLETED', 'FAILED', 'CANCELLED')`;
/** Characters of scripts without spaces. The function `run_lexemes` indexes each as a word. */
const UNSPACED =
  /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}]/gu;
const UNSPACED_WORD = new RegExp(`(?:${UNSPACED.source})+`, 'gu');

/** How many of a bot's runs a search for a phrase reads one by one, before it uses the index. */
const PHRASE_SCAN_RUNS = 100;
/** How many of a bot's runs the first search by the index covers. */
const FIRST_RANGE_RUNS = 2_000;
/** If the first search finds at most this number of runs, the word is rare, and the next search covers all runs. */
const RARE = 20;
/** If so many runs of the first search contain the text, it is common: it selects fewer runs than other fields may. */
const COMMON = 200;
/** How many runs of the other fields are read in order for a common text. */
const MAX_READ = 3_000;
/** The spans of time that have marks: 2 to this power, in seconds. */
const SPANS = [12, 18];
/** The most marks in one search. */
const MAX_MARKS = 64;

/**
 * Searches by an inverted index, which has no order, in steps: the next 2,000 runs of the bot, then as many as the page
 * probably needs, then all. A common word fills the page from the first steps, and a rare word has few runs in all, so no
 * step reads many runs.
 */
export function createTextSearch({
  prisma,
  lists,
}: {
  prisma: PrismaClient;
  lists: ListDefinition;
}): TextSearch {
  return async (botIds, text, page, { conditions, few, firstRuns }) => {
    const [botId, ...others] = botIds;
    if (botId === undefined) return [];
    if (others.length > 0)
      throw invalidInput([{ path: 'filter.text', message: 'searches one bot at a time' }]);
    const { direction, take } = page;
    const read = (page: PageQuery, rows: Prisma.Sql) =>
      readLists(prisma, lists, [botId], page, [], rows);
    const fields = conditions.map(unindexed);
    const matches = [...containsWords(text).map(unindexed), ...fields];

    /** Checks each run of a query against the filter, without an index. */
    const readAmong = (ids: Prisma.Sql) => {
      const rows = firstRows(lists, page, [Prisma.sql`id IN (${ids})`, ...matches]);
      return read(page, rows);
    };
    /** Reads the runs of a query in its order until the page is full. */
    const readThrough = (ordered: Prisma.Sql) =>
      read(
        page,
        Prisma.sql`
          SELECT next.* FROM (${ordered}) AS next CROSS JOIN LATERAL (
            SELECT FROM runs WHERE runs.id = next.id AND ${Prisma.join(matches, ' AND ')} OFFSET 0
          ) AS run ORDER BY ${orderBy(direction)} LIMIT ${take}`,
      );
    /** The places of the runs after these many runs of the list. Left out where the list has no more. */
    const placesAfter = async (...counts: number[]): Promise<Place[]> => {
      const one = { ...page, take: 1, bytes: undefined };
      const rows = counts.map((runs) => Prisma.sql`(${firstRows(lists, one, [])} OFFSET ${runs})`);
      const found = await read(one, Prisma.join(rows, ' UNION ALL '));
      return found.map(({ place }) => place);
    };
    const withWords = (from: number, to: number, page: PageQuery, more: Prisma.Sql[]) => {
      const indexed = containsWords(text, marksOf(botId, from, to));
      return read(page, firstRows(lists, page, [...indexed, ...more]));
    };
    const find = (from: number, to: number) => withWords(from, to, page, fields);
    const isCommon = async (from: number, to: number) => {
      const some = { ...page, take: COMMON, bytes: undefined };
      return (await withWords(from, to, some, [])).length === COMMON;
    };

    if (few) return readAmong(Prisma.sql`SELECT unnest(${few}::text[])`);
    const next = firstRows(lists, { bounds: page.bounds, direction, take: PHRASE_SCAN_RUNS }, []);
    const [scanned, [start, firstEnd]] = await Promise.all([
      hasPhrase(text) ? readAmong(Prisma.sql`SELECT id FROM (${next}) AS next`) : [],
      placesAfter(0, FIRST_RANGE_RUNS),
    ]);
    if (start === undefined || scanned.length >= take) return scanned;
    const first = await find(start[0], firstEnd?.[0] ?? endOf(page));
    if (firstEnd === undefined || first.length >= take) return first;
    if (firstRuns && (await isCommon(start[0], firstEnd[0]))) {
      const found = await readThrough(firstRuns({ ...page, take: MAX_READ }));
      if (found.length >= take) return found;
    }
    if (first.length > RARE) {
      const [secondEnd] = await placesAfter(
        Math.ceil((2 * FIRST_RANGE_RUNS * take) / first.length),
      );
      const second = await find(start[0], secondEnd?.[0] ?? endOf(page));
      if (secondEnd === undefined || second.length >= take) return second;
    }
    return find(start[0], endOf(page));
  };
}

/**
 * The conditions that a run is finished and matches a text.
 *
 * @param text words, "phrases", -exclusions and `or`, as in a web search.
 * @param marks restricts an indexed search; the runs of all bots by default.
 */
export function containsWords(text: string, marks?: string): Prisma.Sql[] {
  const words = Prisma.sql`websearch_to_tsquery('simple'::regconfig, ${withPhrases(text)})`;
  const query = marks === undefined ? words : Prisma.sql`(${words} && ${marks}::tsquery)`;
  return [FINISHED, Prisma.sql`${LEXEMES} @@ ${query}`];
}

/**
 * The marks of the runs of a bot between two times in milliseconds, in any order, as the text of a `tsquery`. They may
 * cover more time.
 */
export function marksOf(botId: string, one: number, other: number): string {
  const [from, to] = [Math.min(one, other), Math.max(one, other)];
  for (const span of SPANS) {
    const spanAt = (ms: number) => Math.floor(ms / 1_000 / 2 ** span);
    const [first, last] = [spanAt(from), spanAt(to)];
    if (last - first >= MAX_MARKS) continue;
    const spans = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    return spans.map((number) => mark(`${botId}/${span}/${number}`)).join(' | ');
  }
  return mark(botId);
}

function mark(name: string): string {
  return `'\u0001${name.replaceAll(/['\\]/g, '$&$&')}'`;
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

/** Whether the index only finds candidates, because it has no positions. */
function hasPhrase(text: string): boolean {
  return withPhrases(text).includes('"');
}

/** Separates characters that are indexed one by one, and quotes words of them. */
function withPhrases(text: string): string {
  const parts = text.split('"');
  return parts
    .map((part, index) => {
      if (index % 2 === 1) return `"${part.replaceAll(UNSPACED, ' $& ')}"`;
      return part.replaceAll(UNSPACED_WORD, (word) => `"${[...word].join(' ')}"`);
    })
    .join('');
}
