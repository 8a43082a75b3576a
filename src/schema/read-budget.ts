import type { GraphQLResolveInfo } from 'graphql';
import { GatewayError } from '../errors.ts';
import { createKeyedQueue } from '../sessions/keyed-queue.ts';
import { MAX_READ_BYTES } from './admission/sizes.ts';

/** Byte limit for an operation that reads a single row, so that each row is readable. */
const MAX_ROW_BYTES = 2 * MAX_READ_BYTES;
/** Reads of at most this many bytes of text are not queued. */
export const LONG_READ_BYTES = 256 * 1024;
/** Maximum concurrent long reads per process. */
const LONG_READS = 4;

/** Bytes of long texts and lists that one operation may still read. */
export type ReadBudget = {
  /** Bytes left for a read of this many rows. */
  left(rows: number): number;
  /** @throws GatewayError `invalid_request` if fewer bytes are left. */
  spend(bytes: number, rows: number): void;
  /**
   * Spends the budget on pages of several lists. Each list gets an even share of the bytes left, and at least one entry.
   *
   * @param lists the bytes of each entry, per list.
   * @returns for each list, the number of entries from its start that fit.
   * @throws GatewayError `invalid_request` if not even the first entry of a list fits.
   */
  share(lists: number[][]): number[];
  /** Runs reads one at a time, so that each starts with the exact number of bytes left. */
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
  let turn: Promise<unknown> = Promise.resolve();
  const left = (rows: number) =>
    spent === 0 && rows === 1 ? MAX_ROW_BYTES : Math.max(0, MAX_READ_BYTES - spent);

  const shareOf = (sizes: number[], share: number): number => {
    let bytes = 0;
    let count = 0;
    for (const size of sizes) {
      const isFirst = count === 0 && size <= left(1);
      if (!isFirst && bytes + size > share) break;
      bytes += size;
      count += 1;
    }
    if (count === 0 && sizes.length > 0) throw tooMuch();
    spent += bytes;
    return count;
  };

  return {
    left,
    spend(bytes, rows) {
      if (bytes > left(rows)) throw tooMuch();
      spent += bytes;
    },
    share: (lists) => lists.map((sizes, index) => shareOf(sizes, left(2) / (lists.length - index))),
    inTurn(read) {
      const result = turn.then(read);
      turn = result.catch(() => {});
      return result;
    },
  };
}

function tooMuch(): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The texts and lists of the response are larger than ${MAX_READ_BYTES / 1024 / 1024} MiB in total. Request fewer entries or fewer fields.`,
  );
}

/** Runs a long read after the earlier ones of its account, once the process has a free slot. */
export type LongReads = <Result>(accountId: string, read: () => Promise<Result>) => Promise<Result>;

export function createLongReads(): LongReads {
  const queue = createKeyedQueue();
  const waiting: (() => void)[] = [];
  let free = LONG_READS;
  return async (accountId, read) => {
    using _head = await queue(accountId);
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await read();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
