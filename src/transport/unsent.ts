import type { ServerResponse } from 'node:http';

/** Bytes that may wait for a reader who is slow; then it is cut off, and may come back for the rest. */
export const MOST_UNSENT = 4 * 1024 * 1024;

/**
 * Cuts off readers of event streams who do not keep up: the library queues for them without end.
 *
 * @returns to be told of everything that is put in a reader's queue.
 */
export function createUnsent(): (reader: ServerResponse, queued: unknown) => void {
  const readers = new WeakMap<ServerResponse, { queued: number; before: number }>();
  return (reader, queued) => {
    const { socket } = reader;
    if (!socket) return;
    const sent = socket.bytesWritten - socket.writableLength;
    const known = readers.get(reader) ?? { queued: 0, before: sent };
    known.queued += JSON.stringify(queued).length;
    readers.set(reader, known);
    if (known.queued - (sent - known.before) > MOST_UNSENT) reader.destroy();
  };
}
