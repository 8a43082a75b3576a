import type { ServerResponse } from 'node:http';

/** Bytes that may wait for a slow reader when more is sent: then its connection is cut, and it may resume. */
export const MOST_UNSENT = 4 * 1024 * 1024;
/** Bytes that a subscription may have waiting; then it waits itself. */
const ENOUGH_UNSENT = 256 * 1024;

/** What waits for the readers of event streams, which the library queues without end. */
export type Unsent = {
  /** To be told of everything that is put in a reader's queue: who has too much there is cut off. */
  add(reader: ServerResponse, queued: unknown): void;
  /** To be told when something has left a reader's queue. */
  sent(reader: ServerResponse): void;
  /** Waits until there is room in a reader's queue, or the reader has gone. */
  room(reader: ServerResponse): Promise<void>;
};

export function createUnsent(): Unsent {
  const queues = new WeakMap<ServerResponse, Queue>();

  const queueOf = (reader: ServerResponse) => {
    const queue = queues.get(reader) ?? watch(reader);
    queues.set(reader, queue);
    return queue;
  };

  return {
    add(reader, queued) {
      const queue = queueOf(reader);
      if (waiting(reader, queue) > MOST_UNSENT) reader.destroy();
      queue.bytes += JSON.stringify(queued).length;
    },

    sent: (reader) => tell(queueOf(reader)),

    async room(reader) {
      const queue = queueOf(reader);
      while (!reader.destroyed && waiting(reader, queue) > ENOUGH_UNSENT) await queue.moved.promise;
    },
  };
}

type Queue = {
  /** All that was ever put in it. */
  bytes: number;
  /** What its connection had sent before. */
  before: number;
  /** Settles when something has left it, or the reader. */
  moved: PromiseWithResolvers<void>;
};

function watch(reader: ServerResponse): Queue {
  const queue = { bytes: 0, before: sentTo(reader), moved: Promise.withResolvers<void>() };
  reader.once('close', () => tell(queue));
  return queue;
}

function tell(queue: Queue): void {
  queue.moved.resolve();
  queue.moved = Promise.withResolvers();
}

function waiting(reader: ServerResponse, { bytes, before }: Queue): number {
  return reader.socket ? bytes - (sentTo(reader) - before) : 0;
}

function sentTo({ socket }: ServerResponse): number {
  return socket ? socket.bytesWritten - socket.writableLength : 0;
}
