import type { ServerResponse } from 'node:http';
import type { Caller } from '../../accounts/caller.ts';
import { createConcurrencyLimit } from '../../accounts/concurrency-limit.ts';
import type { Keys } from '../../accounts/keys.ts';
import { createOperations, type Operations } from './open-operations.ts';

const OPEN_WITHIN_MS = 60_000;
/** Of an account, or of a token's session: pages share the key that made their tokens, but no slots. */
const MAX_RESERVED = 100;

/** A connection for many operations, of which its client opens the stream when it likes. */
export type Reserved = {
  operations: Operations;
  /** Who reads its stream. */
  reader: ServerResponse | undefined;
  /** Settles with the reader; with nothing where it ends without one. */
  opened: Promise<ServerResponse | undefined>;
  /** Gives its stream to a reader, who is to send it, and with whom it ends. */
  open(reader: ServerResponse): EventStream;
  /** Ends it, and all that is under way on it. */
  end(): void;
};

/** What the library has to send along a connection. To return from it ends all that is under way on it. */
export type EventStream = AsyncGenerator<string, void>;

/**
 * The reserved connections of event streams, by their tokens. Each ends with its reader, with its key, and after a minute
 * in which nobody has opened it; and with it all its operations.
 */
export type ReservedConnections = {
  find(token: string): Reserved | undefined;
  /**
   * @param stream ends where the connection is refused, too.
   * @throws GatewayError `rate_limit_exceeded` where 100 of the account, or of a token's session, wait to be opened.
   */
  add(token: string, caller: Caller, stream: EventStream): void;
  /** Ends all of them. */
  endAll(): void;
};

export function createReserved({ keys }: { keys: Pick<Keys, 'watch'> }): ReservedConnections {
  const connections = new Map<string, Reserved>();
  const acquireSlot = createConcurrencyLimit(
    (max) => `${max} reserved connections wait to be opened already. Open one of them first.`,
  );

  /** @returns releases its slot. */
  const admit = (caller: Caller, stream: EventStream) => {
    try {
      return acquireSlot(JSON.stringify([caller.account.id, caller.session]), MAX_RESERVED);
    } catch (error) {
      void stream.return();
      throw error;
    }
  };

  return {
    find: (token) => connections.get(token),

    add(token, caller, stream) {
      const leave = admit(caller, stream);
      const { promise: opened, resolve } = Promise.withResolvers<ServerResponse | undefined>();
      const connection: Reserved = {
        operations: createOperations(),
        reader: undefined,
        opened,
        open(reader) {
          clearTimeout(late);
          leave();
          connection.reader = reader;
          if (reader.destroyed) connection.end();
          else reader.once('close', connection.end);
          resolve(reader);
          return stream;
        },
        end() {
          if (!connections.delete(token)) return;
          clearTimeout(late);
          leave();
          unwatch();
          connection.operations.cancelAll();
          resolve(undefined);
          void stream.return();
          connection.reader?.destroy();
        },
      };
      connections.set(token, connection);
      const late = setTimeout(connection.end, OPEN_WITHIN_MS);
      // After what its operations are told of that.
      const unwatch = keys.watch(caller, () => setImmediate(connection.end));
    },

    endAll() {
      for (const { end } of connections.values()) end();
    },
  };
}
