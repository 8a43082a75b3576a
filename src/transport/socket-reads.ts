import type { Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';

/** Pause after a turn for each piece that arrived. Node.js parses a piece in about 1 µs, so half of the time stays free. */
const PAUSE_MS_PER_PIECE = 0.001;
const SUSPECT_MS = 1_000;
const MAX_SUSPECTS = 10_000;

/**
 * Decides when the sockets of a server are read. Node.js parses each chunk of a body on its own, so bodies in very many
 * small pieces would take all of the process's time. Sockets that carry them are read in turns, one at a time and with
 * pauses. When one begins, the other sockets of its owner also wait for a turn, because they may carry the same. Owners
 * take turns, then each owner's sockets.
 */
export type SocketReads = {
  /** Assigns a socket to its owner: an account, or the network of a client without a key. */
  assign(socket: Socket, owner: string): void;
  /** Ends the control of a socket that is closed, or that carries no more HTTP. */
  release(socket: Socket): void;
  /** Reads nothing from a socket until `resume`. */
  pause(socket: Socket): void;
  resume(socket: Socket): void;
  /** Makes a socket wait for its next turn. Call it for each small piece that the socket carries. */
  slow(socket: Socket): void;
};

export function createSocketReads(): SocketReads {
  // Weak, because a proxy's socket has no owner: it is paused without `assign`, and never released.
  /** A socket without an owner is its own. */
  const owners = new WeakMap<Socket, string>();
  const sockets = new Map<string, Set<Socket>>();
  const paused = new WeakSet<Socket>();
  /** The sockets that wait for a turn, by owner. */
  const queues = new Map<string | Socket, Set<Socket>>();
  /** The socket whose turn it is. */
  let current: Socket | undefined;
  let pieces = 0;
  /** The first owner of each socket. */
  const networks = new WeakMap<Socket, string>();
  /** Networks of which a socket recently carried small pieces. Their new sockets wait for a turn. */
  const suspects = new LRUCache<string, true>({ max: MAX_SUSPECTS, ttl: SUSPECT_MS });
  let isWorking = false;

  const ownerOf = (socket: Socket) => owners.get(socket) ?? socket;
  const isWaiting = (socket: Socket) => queues.get(ownerOf(socket))?.has(socket) === true;

  const work = async () => {
    isWorking = true;
    // The socket that begins may be in the midst of a read.
    await setImmediate();
    for (const [owner, queue] of queues) {
      // An owner with more sockets goes behind the others. The loop also visits owners that join while it runs.
      queues.delete(owner);
      const [socket] = queue;
      if (socket) queue.delete(socket);
      if (queue.size > 0) queues.set(owner, queue);
      if (!socket || socket.destroyed || paused.has(socket)) continue;
      pieces = 0;
      current = socket;
      socket.resume();
      // The event loop reads each socket once before this.
      await setImmediate();
      current = undefined;
      if (pieces > 0) await setTimeout(pieces * PAUSE_MS_PER_PIECE);
    }
    isWorking = false;
  };

  /**
   * Reads a socket again, in a task of its own: Node.js begins to read in the tick after `resume`, whether or not the
   * socket is paused by then.
   */
  const resume = async (socket: Socket) => {
    await setImmediate();
    if (!paused.has(socket) && !isWaiting(socket)) socket.resume();
  };

  const wait = (socket: Socket) => {
    // Node.js resumes a socket after each request.
    socket.pause();
    if (isWaiting(socket)) return;
    const owner = ownerOf(socket);
    const queue = queues.get(owner);
    if (queue) queue.add(socket);
    else queues.set(owner, new Set([socket]));
    if (!isWorking) void work();
  };

  /** @returns whether it waited for a turn. */
  const leave = (socket: Socket): boolean => {
    const owner = owners.get(socket);
    const wasWaiting = queues.get(owner ?? socket)?.delete(socket) === true;
    if (owner === undefined) return wasWaiting;
    owners.delete(socket);
    const others = sockets.get(owner);
    others?.delete(socket);
    if (others?.size === 0) sockets.delete(owner);
    return wasWaiting;
  };

  return {
    assign(socket, owner) {
      if (owners.get(socket) === owner) return;
      const wasWaiting = leave(socket);
      owners.set(socket, owner);
      if (!networks.has(socket)) networks.set(socket, owner);
      const others = sockets.get(owner);
      if (others) others.add(socket);
      else sockets.set(owner, new Set([socket]));
      // Node.js begins to read a new socket in the next tick.
      if (wasWaiting || suspects.has(owner)) process.nextTick(wait, socket);
    },

    release(socket) {
      if (leave(socket)) void resume(socket);
    },

    pause(socket) {
      paused.add(socket);
      socket.pause();
    },

    resume(socket) {
      if (paused.delete(socket)) void resume(socket);
    },

    slow(socket) {
      pieces += 1;
      const isFirst = !isWaiting(socket);
      wait(socket);
      if (!isFirst) return;
      const network = networks.get(socket);
      if (network !== undefined) suspects.set(network, true);
      const owner = owners.get(socket);
      if (owner === undefined || socket === current) return;
      for (const other of sockets.get(owner) ?? []) wait(other);
    },
  };
}
