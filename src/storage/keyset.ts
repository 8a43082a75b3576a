import { type ErrorDetail, GatewayError } from '../errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { readCursor } from '../input.ts';

/** Which part of a list is wanted. Source: the GraphQL Cursor Connections Specification. */
export type PageArguments = {
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
};

export type Direction = 'asc' | 'desc';

/** A place in a list: what its rows are ordered by, and what decides between those that are equal in it. */
export type Place = readonly [number, string];

/** The rows to read: of those between two places, neither of them included, the first ones in a direction. */
export type PageQuery = {
  /** The places that a row comes behind, each seen in its own direction. */
  bounds: { place: Place; direction: Direction }[];
  direction: Direction;
  take: number;
  /** What a row weighs: bytes, as an expression over it. */
  bytes?: Prisma.Sql | undefined;
};

/** Where a row stands: in whose list, and at which place of it. */
export type Standing = {
  owner: string;
  id: string;
  place: Place;
  /** What the row weighs, where that was asked for; else 0. */
  bytes: number;
};

/** How lists are ordered. */
export type Order = {
  direction: Direction;
  /** Whether a row can have such a place; any can by default. */
  isPlace?(place: Place): boolean;
};

/** One page of a list, after the same specification. */
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
 * Reads one page of the list of each owner by keyset: a place is what a row is ordered by and not the row itself, so
 * that a list goes on where its reader was, whatever has been deleted since.
 *
 * @param read finds where one row more of each list stands than it is to show, which tells whether there are more.
 * @param countFitting how many of the first rows of each list fit in the answer: a page may end sooner than it was asked to.
 * @returns the page of an owner.
 * @throws GatewayError `invalid_request` with every argument that does not fit.
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
  const details: ErrorDetail[] = [];
  const place = (path: string, cursor: string | null | undefined) => {
    if (cursor == null) return undefined;
    const known = readCursor(cursor);
    if (known === undefined || !isPlace(known))
      details.push({ path, message: 'is not a cursor of this list' });
    return known;
  };
  const backward = last != null || (first == null && before != null);
  const places = { after: place('after', after), before: place('before', before) };
  if (first != null && last != null) {
    details.push({ path: 'last', message: 'does not go together with first' });
  }
  if (details.length > 0) {
    const summary = details.map(({ path, message }) => `${path}: ${message}`).join('; ');
    throw new GatewayError('invalid_request', summary, { details });
  }
  return { backward, size: (backward ? last : first) ?? DEFAULT_SIZE, ...places };
}
