import type { ServerResponse } from 'node:http';

/** Bytes that may be queued for a slow reader. Beyond it, its connection is closed, and the client may resume. */
export const MAX_QUEUED_BYTES = 4 * 1024 * 1024;
/** Queued bytes beyond which a subscription pauses. */
const PAUSE_BYTES = 256 * 1024;
/** Characters to buffer before a write to the connection. */
const MAX_CHUNK = 16 * 1024;

/**
 * Writes the events of a stream with backpressure. The server's timeout disconnects a client that reads nothing, see
 * `boundConnections`.
 */
export type EventWriter = {
  /**
   * Writes events. The events of one turn of the event loop leave in one chunk.
   *
   * @param signal ends the wait. If it is already aborted, there is no wait.
   * @returns when the connection takes more, or has closed.
   * @throws the reason of the signal if it aborts during the wait.
   */
  write(text: string, signal?: AbortSignal): Promise<void>;
  /** Sends what `write` has buffered, without waiting. */
  flush(): void;
  /** Sends what `write` has buffered, and ends the response. */
  end(): void;
};

export function createEventWriter(response: ServerResponse): EventWriter {
  let ready = '';

  const flush = () => {
    if (ready !== '' && !response.destroyed) response.write(ready);
    ready = '';
  };

  return {
    async write(text, signal) {
      if (ready === '') process.nextTick(flush);
      ready += text;
      if (ready.length > MAX_CHUNK) flush();
      if (response.writableNeedDrain && !signal?.aborted) await drained(response, signal);
    },
    flush,
    end() {
      flush();
      response.end();
    },
  };
}

/** Waits until a response takes more, or has closed. @throws the reason of the signal if it aborts. */
function drained(response: ServerResponse, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      response.off('drain', settle).off('close', settle);
      signal?.removeEventListener('abort', settle);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    response.on('drain', settle).on('close', settle);
    signal?.addEventListener('abort', settle);
  });
}

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
