import { type ErrorDetail, invalidInput } from '../errors/errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { readCursor } from '../text/input.ts';

/** The pagination arguments of a connection. Source: the GraphQL Cursor Connections Specification. */
export type PageArguments = {
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
};

export type Direction = 'asc' | 'desc';

/** A position in a list: the sort key, and the tie-breaker between rows with the same sort key. */
export type Place = readonly [number, string];

/** Selects the first rows, in a direction, of the rows between two exclusive positions. */
export type PageQuery = {
  /** Each row must come after every bound's position, in the bound's own direction. */
  bounds: { place: Place; direction: Direction }[];
  direction: Direction;
  take: number;
  /** An SQL expression for the size of a row in bytes. */
  bytes?: Prisma.Sql | undefined;
};

/** A row's position: the owner of its list, and the position in that list. */
export type ListEntry = {
  owner: string;
  id: string;
  place: Place;
  /** The result of `PageQuery.bytes`; 0 without it. */
  bytes: number;
};

/** What a search found of a list. */
export type Found = {
  rows: ListEntry[];
  /** The position at which the search stopped, if rows may follow and the page is not full. The next page begins there. */
  reached?: Place | undefined;
};

/** The order of a list. */
export type Order = {
  direction: Direction;
  /** Whether a position from a cursor is valid; every position is by default. */
  isPlace?(place: Place): boolean;
};

/** One page of a connection, by the same specification. */
export type Page<Row> = {
  edges: { cursor: string; node: Row }[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
};

const DEFAULT_SIZE = 20;

/** A page that a client requests. */
export type PageRequest = {
  /** Finds one row more per list than the page shows: an extra row means that more rows follow. */
  query: PageQuery;
  /** The most entries to show. */
  size: number;
  /** Whether the page is counted from the end of the list. */
  backward: boolean;
  hasAfter: boolean;
  hasBefore: boolean;
};

/**
 * Reads the pagination arguments of a list in this order. A cursor holds the sort key and not the row, so it stays valid
 * after the row is deleted.
 *
 * @throws GatewayError `invalid_request` with every invalid argument.
 */
export function readPageArguments(
  { first, last, after: afterCursor, before: beforeCursor }: PageArguments,
  { direction, isPlace = () => true }: Order,
): PageRequest {
  const problems: ErrorDetail[] = [];
  const place = (path: string, cursor: string | null | undefined) => {
    if (cursor == null) return undefined;
    const known = readCursor(cursor);
    if (known === undefined || !isPlace(known))
      problems.push({ path, message: 'is not a cursor of this list' });
    return known;
  };
  const after = place('after', afterCursor);
  const before = place('before', beforeCursor);
  if (first != null && last != null) {
    problems.push({ path: 'last', message: 'does not go together with first' });
  }
  if (problems.length > 0) throw invalidInput(problems);
  const backward = last != null || (first == null && beforeCursor != null);
  const size = (backward ? last : first) ?? DEFAULT_SIZE;
  const reverse = direction === 'asc' ? 'desc' : 'asc';
  const query: PageQuery = {
    bounds: [
      ...(after ? [{ place: after, direction }] : []),
      ...(before ? [{ place: before, direction: reverse } as const] : []),
    ],
    direction: backward ? reverse : direction,
    take: size + 1,
  };
  return { query, size, backward, hasAfter: after !== undefined, hasBefore: before !== undefined };
}

/**
 * Makes the page of one list from the rows that its query found.
 *
 * @param found with the position that a search has reached: the page ends there if it shows all rows.
 * @param size the entries to show, which may be fewer than requested.
 */
export function cutPage(
  { backward, hasAfter, hasBefore }: PageRequest,
  { rows, reached }: Found,
  size = rows.length,
): Page<ListEntry> {
  const shown = rows.slice(0, size);
  const isCut = rows.length > shown.length;
  const end = isCut || !reached ? undefined : writeCursor(reached);
  const hasMore = isCut || reached !== undefined;
  if (backward) shown.reverse();
  const edges = shown.map((node) => ({ cursor: writeCursor(node.place), node }));
  return {
    edges,
    pageInfo: {
      hasNextPage: backward ? hasBefore : hasMore,
      hasPreviousPage: backward ? hasMore : hasAfter,
      startCursor: (backward ? end : undefined) ?? edges.at(0)?.cursor ?? null,
      endCursor: (backward ? undefined : end) ?? edges.at(-1)?.cursor ?? null,
    },
  };
}

/** Encodes a position in a list. */
export function writeCursor([value, tie]: Place): string {
  return Buffer.from(`${value}.${tie}`).toString('base64url');
}
