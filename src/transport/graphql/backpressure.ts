import type { ServerResponse } from 'node:http';

/** Bytes that may be queued for a slow reader. Beyond it, its connection is closed, and the client may resume. */
export const MOST_UNSENT = 4 * 1024 * 1024;
/** Queued bytes beyond which a subscription pauses. */
const ENOUGH_UNSENT = 256 * 1024;

/** The unsent events of event-stream readers. The library's own queue is unbounded. */
export type Unsent = {
  /** Records an event in a reader's queue. It closes the connection of a reader with too many unsent bytes. */
  add(reader: ServerResponse, queued: unknown): void;
  /** Notifies the waiting subscriptions that an event has left a reader's queue. */
  sent(reader: ServerResponse): void;
  /** Waits until a reader's queue has room, or the reader disconnects. */
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
  /** Total bytes that were queued. */
  bytes: number;
  /** Bytes that the connection had sent before the queue existed. */
  before: number;
  /** Resolves when an event leaves the queue or the reader disconnects. */
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
