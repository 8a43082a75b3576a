import type { GraphQLResolveInfo } from 'graphql';
import { untilAborted } from '../deadline.ts';
import { GatewayError } from '../errors.ts';
import { createKeyedQueue } from '../sessions/keyed-queue.ts';
import { MAX_READ_BYTES } from './admission/sizes.ts';

/** Byte limit for an operation that reads a single row, so that each row is readable. */
const MAX_ROW_BYTES = 2 * MAX_READ_BYTES;
/** Reads of at most this many bytes of text are not queued. */
export const LONG_READ_BYTES = 256 * 1024;
/** Maximum concurrent long reads per process. */
const LONG_READS = 4;

/** The entries of a list by their ids, and how often the response shows it. */
type List = { ids: string[]; times: number };

/** Bytes of long texts and lists that one operation may still read. */
export type ReadBudget = {
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

/** Keyed by the coerced variables: each operation, and each event of a subscription, has its own object. */
const budgets = new WeakMap<object, ReadBudget>();

export function budgetOf({
  variableValues,
}: Pick<GraphQLResolveInfo, 'variableValues'>): ReadBudget {
  const budget = budgets.get(variableValues) ?? createReadBudget();
  budgets.set(variableValues, budget);
  return budget;
}

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

/**
 * Runs a long read after the earlier ones of its account, once the process has a free slot.
 *
 * @param signal ends the wait, not the read.
 * @throws the signal's reason if it is aborted before the read starts.
 */
export type LongReads = <Result>(
  accountId: string,
  signal: AbortSignal,
  read: () => Promise<Result>,
) => Promise<Result>;

/** @param limit the reads that run at a time in the process. */
export function createLongReads(limit = LONG_READS): LongReads {
  const queue = createKeyedQueue();
  const waiting = new Set<() => void>();
  let free = limit;

  const takeSlot = async (signal: AbortSignal) => {
    if (free > 0) {
      free -= 1;
      return;
    }
    const { promise: isNext, resolve } = Promise.withResolvers<void>();
    waiting.add(resolve);
    await untilAborted(isNext, signal).catch((error) => {
      // A slot may have been given in the same moment.
      if (!waiting.delete(resolve)) giveSlot();
      throw error;
    });
  };
  const giveSlot = () => {
    const [next] = waiting;
    if (!next) {
      free += 1;
      return;
    }
    waiting.delete(next);
    next();
  };

  return async (accountId, signal, read) => {
    using _head = await queue(accountId, signal);
    await takeSlot(signal);
    try {
      signal.throwIfAborted();
      return await read();
    } finally {
      giveSlot();
    }
  };
}
