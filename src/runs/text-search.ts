import { invalidInput } from '../errors.ts';
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import type { PageQuery, Place, Standing } from '../storage/keyset.ts';
import { firstRows, type Lists, orderBy, readLists } from '../storage/lists.ts';

/**
 * Finds the finished runs of a bot whose input or reply matches a text, in list order.
 *
 * @param conditions the other conditions of the filter.
 * @throws GatewayError `invalid_request` for several bots.
 */
export type TextSearch = (
  botIds: string[],
  text: string,
  page: PageQuery,
  conditions: Prisma.Sql[],
) => Promise<Standing[]>;

/** The words of a run and the marks of its bot. See the migration `filters_of_runs`. */
const LEXEMES = Prisma.sql`run_lexemes(runs.bot_id, runs.created_at, runs.input, runs.response)`;
/** The predicate of the index. */
const FINISHED = Prisma.sql`runs.status IN ('COMPLETED', 'FAILED', 'CANCELLED')`;
/** Characters of scripts without spaces between words: those that the function `run_lexemes` separates. */
const UNSPACED =
  /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}]/gu;
const UNSPACED_WORD = new RegExp(`(?:${UNSPACED.source})+`, 'gu');

/** How many of a bot's runs the first search reads one by one. */
const AT_HAND = 100;
/** How many of a bot's runs the next searches reach by the index, before one reaches all. */
const REACHES = [2_000, 50_000];
/** The spans of time that have marks: 2 to this power, in seconds. */
const SPANS = [12, 18];
/** The most marks in one search. */
const MOST_MARKS = 64;

/**
 * Searches by an inverted index, which has no order, in steps: the next 100, 2,000 and 50,000 runs of the bot, then all. A
 * common word fills the page from the first steps, and a rare word has few runs in all, so no step reads many runs.
 */
export function createTextSearch({
  prisma,
  lists,
}: {
  prisma: PrismaClient;
  lists: Lists;
}): TextSearch {
  return async (botIds, text, page, conditions) => {
    const [botId, ...others] = botIds;
    if (botId === undefined) return [];
    if (others.length > 0)
      throw invalidInput([{ path: 'filter.text', message: 'searches one bot at a time' }]);
    const read = (page: PageQuery, rows: Prisma.Sql) =>
      readLists(prisma, lists, [botId], page, [], rows);

    /** The place of the run after this many runs of the list; `undefined` if it has no more. */
    const placeAfter = async (runs: number): Promise<Place | undefined> => {
      const one = { ...page, take: 1, bytes: undefined };
      const [found] = await read(one, Prisma.sql`${firstRows(lists, one, [])} OFFSET ${runs}`);
      return found?.place;
    };

    const start = await placeAfter(0);
    if (start === undefined) return [];
    const atHand = await read(page, among(lists, page, [...containsWords(text), ...conditions]));
    const isAll = (await placeAfter(AT_HAND)) === undefined;
    if (isAll || atHand.length >= page.take) return atHand;

    for (const reach of REACHES) {
      const end = await placeAfter(reach);
      if (end === undefined) break;
      const marks = marksOf(botId, start[0], end[0]);
      const found = await find(marks);
      if (found.length >= page.take) return found;
    }
    return find(marksOf(botId, start[0], endOf(page)));

    function find(marks: string) {
      const rows = firstRows(lists, page, [...containsWords(text, marks), ...conditions]);
      return read(page, rows);
    }
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
    if (last - first >= MOST_MARKS) continue;
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

/** The next runs of the list that match the conditions, read one by one. */
function among(lists: Lists, page: PageQuery, conditions: Prisma.Sql[]): Prisma.Sql {
  return Prisma.sql`
    SELECT next.* FROM (${firstRows(lists, { ...page, take: AT_HAND }, [])}) AS next
    JOIN runs ON runs.id = next.id
    WHERE ${Prisma.join(conditions, ' AND ')} ORDER BY ${orderBy(page.direction)} LIMIT ${page.take}`;
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
