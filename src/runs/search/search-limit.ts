import { GatewayError } from '../../errors/errors.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { SEARCH_MS, type SearchSql } from '../../storage/database.ts';
import type { QueryRaw } from '../../storage/lists.ts';

/** PostgreSQL's code for a statement that was cancelled, here by its time limit. */
const CANCELLED = '57014';

/** Executes the statements of one search, and throws GatewayError `search_too_broad` after their time limit. */
export type SearchReader = QueryRaw & {
  /** A reader of the same search, whose statements may take this time from now on. */
  within(limitMs: number): QueryRaw;
};

/**
 * Executes the statements of one search, which together may take `SEARCH_MS`. After that no further statement starts, and
 * PostgreSQL ends the one that runs.
 *
 * @param now the time in milliseconds, on any clock.
 */
export function limitedReader(
  { query }: Pick<SearchSql, 'query'>,
  now: () => number = () => performance.now(),
): SearchReader {
  const start = now();
  const until = (end: number): QueryRaw => ({
    async $queryRaw<Rows>(statement: Prisma.Sql) {
      const leftMs = end - now();
      if (leftMs <= 0) throw searchTooBroad();
      return query<Rows>(statement, leftMs).catch((error: unknown) => {
        throw isCancelled(error) ? searchTooBroad() : error;
      });
    },
  });
  return {
    ...until(start + SEARCH_MS),
    within: (limitMs) => until(Math.min(now() + limitMs, start + SEARCH_MS)),
  };
}

/** Creates the error of a search that would take too much work. */
export function searchTooBroad(): GatewayError {
  return new GatewayError(
    'search_too_broad',
    `The search takes longer than ${SEARCH_MS / 1_000} seconds, because too many runs may contain the text. Narrow the time, add another condition, or search for a rarer word.`,
  );
}

/** Whether `searchTooBroad` made an error. */
export function isTooBroad(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'search_too_broad';
}

function isCancelled(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === CANCELLED;
}
