import { createInOrder } from '../sessions/keyed-queue.ts';

/** Bytes of texts that an operation reads at once without waiting for others. */
export const LONG_READ_BYTES = 256 * 1024;
/** Long reads of one process at a time. An account has one of them at most. */
const LONG_READS = 4;

/** Runs a long read when the earlier ones of its account are over and the process has a free slot. */
export type LongReads = <Result>(accountId: string, read: () => Promise<Result>) => Promise<Result>;

export function createLongReads(): LongReads {
  const inOrder = createInOrder();
  const waiting: (() => void)[] = [];
  let free = LONG_READS;
  return (accountId, read) =>
    inOrder(accountId, async () => {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await read();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else free += 1;
      }
    });
}
