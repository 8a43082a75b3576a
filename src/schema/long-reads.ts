import { createSemaphore } from '../async/semaphore.ts';

/** Reads of at most this many bytes of text are not queued. */
export const LONG_READ_BYTES = 256 * 1024;
/** Maximum concurrent long reads per process. */
const LONG_READS = 4;

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
  const { acquire } = createSemaphore();
  return async (accountId, signal, read) => {
    using _turn = await acquire(`account ${accountId}`, 1, signal);
    using _slot = await acquire('process', limit, signal);
    signal.throwIfAborted();
    return await read();
  };
}
