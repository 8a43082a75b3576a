import type { ServerResponse } from 'node:http';

/** Bytes that may be queued for a slow reader. Beyond it, its connection is closed, and the client may resume. */
export const MAX_QUEUED_BYTES = 4 * 1024 * 1024;
/** Queued bytes beyond which a subscription pauses. */
const PAUSE_BYTES = 256 * 1024;

/** A response that carries events, and its queue of unsent ones. The library's own queue is unbounded. */
export type EventReader = {
  response: ServerResponse;
  /** Records an event in the queue. It closes the connection of a reader with too many unsent bytes. */
  add(event: unknown): void;
  /** Notifies the waiting subscriptions that an event has left the queue. */
  sent(): void;
  /** Waits until the queue has room, or the reader disconnects. */
  room(): Promise<void>;
};

export function createEventReader(response: ServerResponse): EventReader {
  /** Bytes that the connection sent before the queue existed. */
  const before = sentTo(response);
  let queued = 0;
  /** Resolves when an event leaves the queue or the reader disconnects. */
  let moved = Promise.withResolvers<void>();

  const unsent = () => (response.socket ? queued - (sentTo(response) - before) : 0);
  const notify = () => {
    moved.resolve();
    moved = Promise.withResolvers();
  };
  response.once('close', notify);

  return {
    response,
    add(event) {
      if (unsent() > MAX_QUEUED_BYTES) response.destroy();
      queued += JSON.stringify(event).length;
    },
    sent: notify,
    async room() {
      while (!response.destroyed && unsent() > PAUSE_BYTES) await moved.promise;
    },
  };
}

function sentTo({ socket }: ServerResponse): number {
  return socket ? socket.bytesWritten - socket.writableLength : 0;
}
