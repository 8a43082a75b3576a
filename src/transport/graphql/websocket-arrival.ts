import type { Socket } from 'node:net';
import type { WebSocket } from '@fastify/websocket';
import type { BodyMemory, BodyOwner } from '../body-memory.ts';
import { createFrameReader } from './websocket-frames.ts';
import type { PacedSocket, WebSocketPace } from './websocket-pace.ts';

/** Bytes that a client may send in all before its connection is acknowledged. */
export const MAX_UNACKNOWLEDGED_BYTES = 16 * 1024;
/** Memory of a piece of an unfinished message besides its bytes: the objects of a read, or of a frame. */
const PIECE_BYTES = 512;
const SECOND_MS = 1_000;
/** Control frames, and frames without data, in a second. The library ends a connection with more unsent pongs. */
const MAX_EMPTY_FRAMES = 60;
/** Frames of any size in a second. With more of them, each must on average have `SMALL_FRAME_BYTES`. */
const MAX_SMALL_FRAMES = 1_024;
const SMALL_FRAME_BYTES = 256;

/** How the bytes of a WebSocket are bounded. */
export type ArrivalLimits = {
  /** Shared with the bodies of HTTP requests. */
  memory: BodyMemory;
  /** Milliseconds for a message to arrive. */
  messageMs: number;
  /** Shared by all WebSockets. */
  pace: WebSocketPace;
};

/** The bytes that arrive on a WebSocket. */
export type Arrival = {
  /** Whether the client has authenticated. */
  isAcknowledged(): boolean;
  /** From now on, unfinished messages count against this account, and the connection may send any number of bytes. */
  acknowledge(owner: BodyOwner): void;
};

/**
 * Bounds what the client of a WebSocket sends, before the library parses it: the bytes in all until the connection is
 * acknowledged, then the memory and the time of an unfinished message, and always the frames in a second. Beyond a bound,
 * the connection closes, and its further bytes are dropped. Beyond the frames of its owner in a second, it is not read.
 *
 * @param owner the owner of unfinished messages in `memory` until the connection is acknowledged.
 */
export function boundArrival(
  socket: WebSocket,
  connection: Socket,
  owner: BodyOwner,
  { memory, messageMs, pace }: ArrivalLimits,
): Arrival {
  const read = createFrameReader();
  const isTooFrequent = createFramePace();
  let held = memory.open(owner);
  let size = 0;
  let total = 0;
  let isAcknowledged = false;
  let paced: PacedSocket | undefined;
  let deadline: NodeJS.Timeout | undefined;

  const hold = (bytes: number) => {
    held.resize(bytes);
    size = bytes;
  };
  const release = () => {
    clearTimeout(deadline);
    deadline = undefined;
    hold(0);
  };
  const refuse = (code: number, reason: string) => {
    connection.removeAllListeners('data');
    // Drop the rest, so that the client can read the close frame.
    connection.resume();
    release();
    socket.close(code, reason);
  };

  const receive = (bytes: Buffer) => {
    total += bytes.length;
    if (!isAcknowledged && total > MAX_UNACKNOWLEDGED_BYTES)
      return refuse(4400, 'Invalid message received');
    const { frames, empty, isNew, isUnfinished } = read(bytes);
    if (isTooFrequent(frames, empty, bytes.length)) return refuse(4429, 'Too many frames');
    paced?.count(frames);
    if (isNew && size > 0) release();
    if (!isUnfinished) return;
    try {
      hold(size + bytes.length + (frames + 1) * PIECE_BYTES);
    } catch {
      return refuse(4429, 'Too many messages in transit');
    }
    deadline ??= setTimeout(refuse, messageMs, 4408, 'Message timeout');
  };

  connection.prependListener('data', receive);
  socket.once('close', () => {
    release();
    paced?.leave();
  });
  return {
    isAcknowledged: () => isAcknowledged,
    acknowledge(account) {
      isAcknowledged = true;
      paced = pace.join(`${account.kind}:${account.id}`, socket);
      held.resize(0);
      held = memory.open(account);
      try {
        hold(size);
      } catch {
        size = 0;
        refuse(4429, 'Too many messages in transit');
      }
    },
  };
}

/** @returns a function that counts frames, and returns whether the connection has sent too many in this second. */
function createFramePace() {
  let since = performance.now();
  let counted = { frames: 0, empty: 0, bytes: 0 };
  return (frames: number, empty: number, bytes: number): boolean => {
    const now = performance.now();
    if (now - since >= SECOND_MS) {
      since = now;
      counted = { frames: 0, empty: 0, bytes: 0 };
    }
    counted.frames += frames;
    counted.empty += empty;
    counted.bytes += bytes;
    const small = MAX_SMALL_FRAMES + counted.bytes / SMALL_FRAME_BYTES;
    return counted.empty > MAX_EMPTY_FRAMES || counted.frames > small;
  };
}
