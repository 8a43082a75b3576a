import { createKeyedQueue } from '../sessions/keyed-queue.ts';

/** Reads of at most this many bytes of text are not queued. */
export const LONG_READ_BYTES = 256 * 1024;
/** Maximum concurrent long reads per process. */
const LONG_READS = 4;

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
