import type { WebSocket } from '@fastify/websocket';

/** Closes a WebSocket whose client takes nothing of what waits for it. Node.js watches no connection that was upgraded. */
export type Stall = {
  /** To be called for each message that is put in the queue. */
  queued(): void;
  /** To be called for each message that has left. */
  sent(): void;
};

/** @param limitMs milliseconds between two messages that leave, while any wait. */
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
      timer ??= setTimeout(() => socket.terminate(), limitMs);
    },
    sent() {
      if (socket.bufferedAmount === 0) stop();
      else timer?.refresh();
    },
  };
}
