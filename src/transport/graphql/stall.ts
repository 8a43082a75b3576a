import type { WebSocket } from '@fastify/websocket';

/** Terminates a WebSocket whose client stops reading. Node.js does not time out upgraded connections. */
export type Stall = {
  /** Call it for each message that is queued. */
  queued(): void;
  /** Call it for each message that was sent. */
  sent(): void;
};

/** @param limitMs longest time between two sent messages while any are queued. */
export function watchStall(
  socket: Pick<WebSocket, 'bufferedAmount' | 'once' | 'terminate'>,
  limitMs: number,
): Stall {
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  socket.once('close', stop);
  return {
    queued() {
      // Not a deadline on work: each message that is sent starts it again.
      timer ??= setTimeout(() => socket.terminate(), limitMs);
    },
    sent() {
      if (socket.bufferedAmount === 0) stop();
      else timer?.refresh();
    },
  };
}
