import type { WebSocket } from '@fastify/websocket';

const SECOND_MS = 1_000;
/** Milliseconds between two sockets that are read again. */
const TURN_MS = 50;

/** The part of a WebSocket that the pace controls. */
type Reading = Pick<WebSocket, 'pause' | 'resume'>;

/** The frames of one WebSocket. */
export type PacedSocket = {
  /** Counts frames that have arrived. */
  count(frames: number): void;
  /** Ends the count of a closed socket. */
  leave(): void;
};

/**
 * Bounds the frames that all WebSockets of one owner send in a second. Beyond the bound, none of its sockets is read, and
 * then they are read in turns. Nothing is lost: a client that reconnects with many subscriptions only waits.
 */
export type WebSocketPace = { join(owner: string, socket: Reading): PacedSocket };

type Owner = {
  sockets: Set<Reading>;
  /** The sockets that are not read. */
  waiting: Set<Reading>;
  /** The frames that may still arrive, below 0 after a read with too many. */
  left: number;
  /** When `left` was last increased. */
  since: number;
};

/**
 * @param perSecond frames of one owner.
 * @param now milliseconds on any clock.
 */
export function createWebSocketPace(
  perSecond: number,
  now: () => number = () => performance.now(),
): WebSocketPace {
  const owners = new Map<string, Owner>();

  const refill = (owner: Owner) => {
    const at = now();
    const earned = ((at - owner.since) / SECOND_MS) * perSecond;
    owner.left = Math.min(perSecond, owner.left + earned);
    owner.since = at;
  };

  const takeTurns = (owner: Owner) => {
    refill(owner);
    // With half of a second's frames left, the owner's sockets are no longer a burden.
    const turns = owner.left > perSecond / 2 ? owner.waiting.size : owner.left > 0 ? 1 : 0;
    for (const socket of owner.waiting.values().take(turns)) {
      owner.waiting.delete(socket);
      socket.resume();
    }
    // Not a periodic task: it ends when no socket waits.
    if (owner.waiting.size > 0) setTimeout(takeTurns, TURN_MS, owner).unref();
  };

  const pauseAll = (owner: Owner) => {
    const isFirst = owner.waiting.size === 0;
    for (const socket of owner.sockets) {
      if (owner.waiting.has(socket)) continue;
      owner.waiting.add(socket);
      socket.pause();
    }
    if (isFirst) setTimeout(takeTurns, TURN_MS, owner).unref();
  };

  return {
    join(name, socket) {
      const owner = owners.get(name) ?? {
        sockets: new Set(),
        waiting: new Set(),
        left: perSecond,
        since: now(),
      };
      owners.set(name, owner);
      owner.sockets.add(socket);
      return {
        count(frames) {
          refill(owner);
          owner.left -= frames;
          if (owner.left < 0) pauseAll(owner);
        },
        leave() {
          owner.sockets.delete(socket);
          owner.waiting.delete(socket);
          if (owner.sockets.size === 0 && owners.get(name) === owner) owners.delete(name);
        },
      };
    },
  };
}
