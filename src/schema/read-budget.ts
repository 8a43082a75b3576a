import type { GraphQLResolveInfo } from 'graphql';
import { GatewayError } from '../errors.ts';

/**
 * Bytes of long texts that one operation reads and answers with, in UTF-8: the inputs, responses, metadata and traces of
 * runs, messages, sources, diagnostics and facts. A text that the answer holds twice counts twice.
 */
export const MAX_READ_BYTES = 8 * 1024 * 1024;
/** Bytes of one row that an operation reads by itself, so that every row can be read. */
const MAX_ROW_BYTES = 2 * MAX_READ_BYTES;

/** What one operation may still read. */
export type ReadBudget = {
  /** Bytes that are left for a number of rows. */
  left(rows: number): number;
  /** @throws GatewayError `invalid_request` where that is more than what is left. */
  spend(bytes: number, rows: number): void;
  /**
   * Spends what some lists show. Each list gets an even share of what is left, and one entry at least.
   *
   * @param lists the bytes of the entries of each list.
   * @returns how many of the first entries of each list fit.
   * @throws GatewayError `invalid_request` where nothing is left for an entry of a list.
   */
  share(lists: number[][]): number[];
  /** Runs one read after the other, so that none begins before what is left is known. */
  inTurn<Result>(read: () => Promise<Result>): Promise<Result>;
};

/** The coerced variables are an object of their own for each operation, and for each event of a subscription. */
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
    `The texts of the answer are larger than ${MAX_READ_BYTES / 1024 / 1024} MiB in total. Ask for fewer entries or fewer fields.`,
  );
}
