import { Prisma } from '../../generated/prisma/client.ts';
import type { ListEntry } from '../../storage/keyset.ts';
import type { QueryRaw } from '../../storage/lists.ts';
import { searchTooBroad } from './search-limit.ts';
import { readWords, wordsOf } from './search-words.ts';

/** The words of a run and the marks of its bot. See the migration `filters_of_runs`. */
const LEXEMES = Prisma.sql`run_lexemes(runs.bot_id, runs.created_at, runs.input, runs.response)`;
/** The predicate of the index. */
const FINISHED = Prisma.sql`runs.status IN ('COMPLETED', 'FAILED', 'CANCELLED')`;
/** The bytes of a run that `run_lexemes` reads, at most. */
export const SEARCHED_BYTES = Prisma.sql`
  LEAST(octet_length(input), 32768) + LEAST(COALESCE(octet_length(response), 0), 32768)`;
/** Bytes of texts that one statement checks for the text. That takes 15 ms on PostgreSQL, and 40 ms on PGlite. */
const SLICE_BYTES = 64 * 1024;
/** Runs that one statement may find by the index on a database that cannot end a statement: 0.12 s on PGlite. */
export const MAX_UNENDED = 50_000;

/**
 * The conditions that a run is finished and matches a text.
 *
 * @param text words, "phrases", -exclusions and `or`, as in a web search.
 * @param marks restricts an indexed search; the runs of all bots by default.
 */
export function containsWords(text: string, marks?: string): Prisma.Sql[] {
  const words = wordsOf(text);
  return marks === undefined
    ? [FINISHED, Prisma.sql`${LEXEMES} @@ ${words}`]
    : isIndexed(words, marks);
}

/** The conditions that the index of texts finds a run: by a `tsquery` of words, and by marks. */
export function isIndexed(words: Prisma.Sql, marks: string): Prisma.Sql[] {
  return [FINISHED, Prisma.sql`${LEXEMES} @@ (${words} && ${marks}::tsquery)`];
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
  const where = Prisma.join([rows, ...isIndexed(candidates, marks)], ' AND ');
  const [measured] = await reader.$queryRaw<{ runs: number; bytes: number }[]>(Prisma.sql`
    SELECT count(*)::float8 AS runs, COALESCE(sum(bytes), 0)::float8 AS bytes
    FROM (SELECT ${SEARCHED_BYTES} AS bytes FROM runs WHERE ${where} LIMIT ${MAX_UNENDED + 1}) AS run`);
  const { runs, bytes } = measured ?? { runs: 0, bytes: 0 };
  if (runs > MAX_UNENDED || (!isExact && bytes > 4 * SLICE_BYTES)) throw searchTooBroad();
}

/** Splits runs into parts of at most `SLICE_BYTES`, or of one run. */
export function* slicesOf(runs: ListEntry[]): Generator<ListEntry[]> {
  let slice: ListEntry[] = [];
  let bytes = 0;
  for (const run of runs) {
    bytes += run.bytes;
    if (bytes > SLICE_BYTES && slice.length > 0) {
      yield slice;
      slice = [];
      bytes = run.bytes;
    }
    slice.push(run);
  }
  if (slice.length > 0) yield slice;
}

/** The same condition, in a form for which the planner uses no index. */
export function unindexed(condition: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(${condition}) IS TRUE`;
}
