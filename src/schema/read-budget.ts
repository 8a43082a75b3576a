import type { FieldNode } from 'graphql';
import { GatewayError } from '../errors/errors.ts';
import { MAX_READ_BYTES } from './admission/sizes.ts';

/** Byte limit for an operation that reads a single row, so that each row is readable. */
const MAX_ROW_BYTES = 2 * MAX_READ_BYTES;

/** How much of a stored text or list an operation asks for. */
export type Demand = {
  /** How often the response shows the same text. */
  copies: number;
  /** Bytes of JSON of each entry of a list, without its texts; 0 for a text. */
  entryBytes: number;
};

/** The demand for a stored tree of objects. */
export type TreeDemand = Demand & {
  /** Bytes of JSON of the largest object in the tree, without its texts. */
  objectBytes: number;
};

/** The entries of a list by their ids, and how often the response shows it. */
type List = { ids: string[]; times: number };

/**
 * Bytes of long texts and lists that one operation may still read. Each operation has its own, and each event of a
 * subscription.
 */
export type ReadBudget = {
  /** The demands of the places of the response that are weighed already, by the nodes of their field. */
  demands: Map<readonly FieldNode[], TreeDemand>;
  /** Bytes left for a read of this many rows. */
  left(rows: number): number;
  /** @throws GatewayError `request_too_large` if fewer bytes are left. */
  spend(bytes: number, rows: number): void;
  /**
   * Spends the budget on pages of several lists, in turn as `inTurn` does. Each list gets an even share of the bytes left,
   * and at least one entry.
   *
   * @param measure returns the bytes of a start of some entries, of at least one. Called only for entries that may fit.
   * @returns for each list, the bytes of the entries from its start that fit.
   * @throws GatewayError `request_too_large` if not even the first entry of a list fits.
   */
  share(lists: List[], measure: (ids: string[]) => Promise<number[]>): Promise<number[][]>;
  /**
   * Runs reads one at a time, so that each starts with the exact number of bytes left. None runs after a refusal.
   *
   * @throws GatewayError `request_too_large` if the budget has refused a read.
   */
  inTurn<Result>(read: () => Promise<Result>): Promise<Result>;
};

export function createReadBudget(): ReadBudget {
  let spent = 0;
  let refusal: GatewayError | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  const left = (rows: number) =>
    spent === 0 && rows === 1 ? MAX_ROW_BYTES : Math.max(0, MAX_READ_BYTES - spent);

  const refuse = () => {
    refusal = tooMuch();
    return refusal;
  };

  /** The first entries of a list that fit. @param sizeAt measures the entry at a place of the list. */
  const shareOf = async (
    { ids, times }: List,
    sizeAt: (place: number) => Promise<number>,
    share: number,
  ): Promise<number[]> => {
    let bytes = 0;
    const sizes: number[] = [];
    while (sizes.length < ids.length) {
      const size = times * (await sizeAt(sizes.length));
      const isFirst = sizes.length === 0 && size <= left(1);
      if (!isFirst && bytes + size > share) break;
      bytes += size;
      sizes.push(size);
    }
    if (sizes.length === 0 && ids.length > 0) throw refuse();
    spent += bytes;
    return sizes;
  };

  const inTurn: ReadBudget['inTurn'] = (read) => {
    const result = turn.then(() => {
      if (refusal) throw refusal;
      return read();
    });
    turn = result.catch(() => {});
    return result;
  };

  return {
    demands: new Map(),
    left,
    spend(bytes, rows) {
      if (bytes > left(rows)) throw refuse();
      spent += bytes;
    },
    share: (lists, measure) =>
      inTurn(async () => {
        const ids = lists.flatMap((list) => list.ids);
        const measured: number[] = [];
        const sizeAt = async (place: number) => {
          if (measured[place] === undefined) {
            const sizes = await measure(ids.slice(place));
            for (const [index, size] of sizes.entries()) measured[place + index] = size;
          }
          return measured[place] ?? 0;
        };
        const pages: number[][] = [];
        let start = 0;
        for (const list of lists) {
          const first = start;
          const share = left(2) / (lists.length - pages.length);
          pages.push(await shareOf(list, (place) => sizeAt(first + place), share));
          start += list.ids.length;
        }
        return pages;
      }),
    inTurn,
  };
}

function tooMuch(): GatewayError {
  return new GatewayError(
    'request_too_large',
    `The texts and lists of the response are larger than ${MAX_READ_BYTES / 1024 / 1024} MiB in total. Request fewer entries or fewer fields.`,
  );
}
