import { type ErrorDetail, invalidInput } from '../errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { readCursor } from '../input.ts';

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
export type Standing = {
  owner: string;
  id: string;
  place: Place;
  /** The result of `PageQuery.bytes`; 0 without it. */
  bytes: number;
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

/**
 * Reads one page of each owner's list with keyset pagination. A cursor holds the sort key and not the row, so it stays
 * valid after the row is deleted.
 *
 * @param read gets a query for one row more per list than the page shows, to determine `hasNextPage`.
 * @param countFitting how many rows of each list fit in the response: a page may be shorter than requested.
 * @returns a function from an owner's id to its page.
 * @throws GatewayError `invalid_request` with every invalid argument.
 */
export async function readPages(
  args: PageArguments,
  order: Order,
  read: (query: PageQuery) => PromiseLike<Standing[]>,
  countFitting: (lists: Standing[][]) => number[] = (lists) => lists.map((list) => list.length),
): Promise<(owner: string) => Page<Standing>> {
  const { backward, size, after, before } = readArguments(args, order);
  const { direction } = order;
  const reverse = direction === 'asc' ? 'desc' : 'asc';
  const rows = await read({
    bounds: [
      ...(after ? [{ place: after, direction }] : []),
      ...(before ? [{ place: before, direction: reverse } as const] : []),
    ],
    direction: backward ? reverse : direction,
    take: size + 1,
  });
  const lists = Map.groupBy(rows, ({ owner }) => owner);
  const fitting = countFitting([...lists.values()].map((list) => list.slice(0, size)));
  const counts = new Map([...lists.keys()].map((owner, index) => [owner, fitting[index]]));
  return (owner) => {
    const list = lists.get(owner) ?? [];
    const shown = list.slice(0, counts.get(owner));
    const hasMore = list.length > shown.length;
    if (backward) shown.reverse();
    const edges = shown.map((node) => ({ cursor: writeCursor(node.place), node }));
    return {
      edges,
      pageInfo: {
        hasNextPage: backward ? before !== undefined : hasMore,
        hasPreviousPage: backward ? hasMore : after !== undefined,
        startCursor: edges.at(0)?.cursor ?? null,
        endCursor: edges.at(-1)?.cursor ?? null,
      },
    };
  };
}

function writeCursor([value, tie]: Place): string {
  return Buffer.from(`${value}.${tie}`).toString('base64url');
}

function readArguments(
  { first, last, after, before }: PageArguments,
  { isPlace = () => true }: Order,
) {
  const problems: ErrorDetail[] = [];
  const place = (path: string, cursor: string | null | undefined) => {
    if (cursor == null) return undefined;
    const known = readCursor(cursor);
    if (known === undefined || !isPlace(known))
      problems.push({ path, message: 'is not a cursor of this list' });
    return known;
  };
  const backward = last != null || (first == null && before != null);
  const places = { after: place('after', after), before: place('before', before) };
  if (first != null && last != null) {
    problems.push({ path: 'last', message: 'does not go together with first' });
  }
  if (problems.length > 0) throw invalidInput(problems);
  return { backward, size: (backward ? last : first) ?? DEFAULT_SIZE, ...places };
}
