import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { GatewayError } from '../errors/errors.ts';
import { toGatewayError } from '../errors/mask.ts';
import { type BodyMemory, type BodyOwner, type HeldMemory, MAX_BODY_BYTES } from './body-memory.ts';
import { createByteBuffer } from './byte-buffer.ts';
import type { SocketReads } from './socket-reads.ts';

/** Bytes that a body may send before it is read. Then its socket waits. */
const UNREAD_BYTES = 16 * 1024;
/** Bytes of a refused body that are received and dropped, so that its client can send it all and read the response. */
const MAX_DROPPED_BYTES = 16 * MAX_BODY_BYTES;
/** Time for the client of a larger one to read the response, before its connection is destroyed. */
const LINGER_MS = 1_000;
/** Pieces of any size that a body may have. With more of them, each must on average have `SMALL_PIECE_BYTES`. */
const MAX_SMALL_PIECES = 1_024;
const SMALL_PIECE_BYTES = 256;

/** The limits under which a body is read. */
export type BodyLimits = {
  owner: BodyOwner;
  maxBytes: number;
  /** Whether `maxBytes` is the limit for requests without a valid key. */
  isKeyless?: boolean;
};

/** The body of a request while it arrives. Its memory depends on its bytes, not on its pieces. */
export type ArrivingBody = {
  /** Takes the next piece. */
  receive(piece: Buffer): void;
  /** Marks the body as complete. */
  end(): void;
  /** Ends the body, because its rest will not arrive. */
  breakOff(reason: GatewayError): void;
  /** Ends the body after its client has disconnected, if it has not arrived whole. */
  disconnect(): void;
  /** Whether more of it may arrive. */
  isArriving(): boolean;
  /**
   * Waits for the whole body. Call it once.
   *
   * @throws GatewayError `request_too_large` beyond `maxBytes`; `rate_limit_exceeded` if its owner's bodies hold too much
   *   memory; `invalid_request` if the client disconnects; the reason of `breakOff`.
   */
  read(limits: BodyLimits): Promise<Buffer>;
  /** Frees its memory, and drops what still arrives of it. */
  drop(): void;
  /**
   * Drops the body and waits for its end. If the client sends too much, or too many small pieces, it has a second to read
   * the response, then its connection is destroyed.
   */
  drain(): Promise<void>;
};

type Dependencies = {
  request: Pick<IncomingMessage, 'headers' | 'socket'>;
  response: Pick<ServerResponse, 'closed'>;
  memory: BodyMemory;
  reads: Pick<SocketReads, 'pause' | 'resume' | 'slow'>;
  /** Asks the client for the body, if it waits for that. */
  proceed?: (() => void) | undefined;
};

export function createArrivingBody({
  request: { headers, socket },
  response,
  memory,
  reads,
  proceed,
}: Dependencies): ArrivingBody {
  let phase: 'unread' | 'reading' | 'dropping' | 'over' = 'unread';
  let failure: GatewayError | undefined;
  let limits: BodyLimits | undefined;
  let bytes = 0;
  let pieces = 0;
  let held: HeldMemory | undefined;
  /** Whether the client waits until it is asked for the body. */
  let isHesitant = proceed !== undefined;
  const buffer = createByteBuffer((size) => held?.resize(size));
  /** Resolves the promise of `read` or `drain`. */
  let notify = () => {};
  const change = () =>
    new Promise<void>((resolve) => {
      notify = resolve;
    });

  const isFragmented = () => pieces > MAX_SMALL_PIECES + bytes / SMALL_PIECE_BYTES;
  const isTooMuch = () => bytes > MAX_DROPPED_BYTES || isFragmented();

  const fail = (reason: GatewayError) => {
    failure ??= reason;
    notify();
  };

  const free = () => {
    const whole = buffer.take();
    held?.resize(0);
    return whole;
  };

  const keep = (piece: Buffer) => {
    try {
      if (limits && bytes > limits.maxBytes) throw tooLarge(limits);
      buffer.append(piece);
    } catch (error) {
      fail(toGatewayError(error));
    }
  };

  const body: ArrivingBody = {
    receive(piece) {
      bytes += piece.length;
      pieces += 1;
      isHesitant = false;
      if (isFragmented()) reads.slow(socket);
      if (phase === 'unread') {
        buffer.append(piece);
        if (buffer.length() >= UNREAD_BYTES) reads.pause(socket);
      } else if (phase === 'reading') {
        if (!failure) keep(piece);
      } else if (isTooMuch()) {
        reads.pause(socket);
        if (response.closed) socket.destroy();
        else notify();
      }
    },

    end() {
      phase = 'over';
      notify();
    },

    breakOff(reason) {
      if (phase === 'over') return;
      phase = 'over';
      fail(reason);
    },

    disconnect() {
      // Most bodies have arrived by then, and an error with its stack costs more than a small body.
      if (phase !== 'over') body.breakOff(disconnected());
    },

    isArriving: () => phase !== 'over' && !isHesitant,

    async read(given) {
      // Most bodies have arrived whole by now, and the caller frees them at once.
      if (phase === 'over' && !failure && bytes <= Math.min(UNREAD_BYTES, given.maxBytes))
        return buffer.take();
      limits = given;
      held = memory.open(given.owner);
      try {
        held.resize(buffer.size());
        const declared = Number(headers['content-length'] ?? 0);
        if (Math.max(bytes, declared) > given.maxBytes) throw tooLarge(given);
        if (phase === 'unread') {
          phase = 'reading';
          isHesitant = false;
          proceed?.();
          reads.resume(socket);
          await change();
        }
        if (failure) throw failure;
        // The response has closed.
        if (phase === 'dropping') throw disconnected();
        return free();
      } catch (error) {
        body.drop();
        throw error;
      }
    },

    drop() {
      free();
      if (phase === 'over') return;
      phase = 'dropping';
      if (!isTooMuch()) reads.resume(socket);
      else if (response.closed) socket.destroy();
    },

    async drain() {
      body.drop();
      if (phase === 'dropping' && !isTooMuch()) await change();
      if (phase === 'over') return;
      await setTimeout(LINGER_MS);
      socket.destroy();
    },
  };
  return body;
}

/** The error for the client of a request that has disconnected. Nobody reads it. */
function disconnected(): GatewayError {
  return new GatewayError('invalid_request', 'The client has disconnected.');
}

function tooLarge({ maxBytes, isKeyless }: BodyLimits): GatewayError {
  const size = maxBytes < MAX_BODY_BYTES ? `${maxBytes / 1024} KiB` : '1 MiB';
  const advice = isKeyless ? ', the limit without a valid API key.' : '. Send a smaller one.';
  return new GatewayError('request_too_large', `The body is larger than ${size}${advice}`);
}
