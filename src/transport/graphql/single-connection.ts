import type { Caller } from '../../accounts/caller.ts';
import { createConcurrencyLimit } from '../../accounts/concurrency-limit.ts';
import type { Keys } from '../../accounts/keys.ts';
import type { EventReader } from '../event-writer.ts';
import { createOperations, type Operations } from './open-operations.ts';

const OPEN_WITHIN_MS = 60_000;
/** Unopened connections of one account, or of one token's session: pages that share a key do not share slots. */
const MAX_RESERVED = 100;

/** A reserved connection for many operations. Its client opens the event stream separately. */
export type Reserved = {
  operations: Operations;
  /** The reader of the stream; none until it is opened. */
  reader: EventReader | undefined;
  /** Resolves with the reader, or with `undefined` if the connection ends unopened. */
  opened: Promise<EventReader | undefined>;
  /** Assigns the stream to a reader, which must send it. The connection ends when the reader closes. */
  open(reader: EventReader): EventStream;
  /** Ends the connection and cancels its operations. */
  end(): void;
};

/** The library's output for a connection. To return it ends all of the connection's operations. */
export type EventStream = AsyncGenerator<string, void>;

/**
 * The reserved connections of event streams, by token. A connection and its operations end when the reader closes, when
 * the API key ends, or if the stream is not opened within a minute.
 */
export type ReservedConnections = {
  find(token: string): Reserved | undefined;
  /**
   * @param stream returned if the connection is rejected.
   * @throws GatewayError `rate_limit_exceeded` if the account, or the token's session, has 100 unopened connections.
   */
  add(token: string, caller: Caller, stream: EventStream): void;
  /** Ends all of them. */
  endAll(): void;
};

export function createReserved({ keys }: { keys: Pick<Keys, 'watch'> }): ReservedConnections {
  const connections = new Map<string, Reserved>();
  const acquireSlot = createConcurrencyLimit(
    (max) => `There are already ${max} unopened reserved connections. Open one of them first.`,
  );

  /** @returns a function that releases the slot. */
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
      const { promise: opened, resolve } = Promise.withResolvers<EventReader | undefined>();
      const connection: Reserved = {
        operations: createOperations(),
        reader: undefined,
        opened,
        open(reader) {
          clearTimeout(late);
          leave();
          connection.reader = reader;
          if (reader.response.destroyed) connection.end();
          else reader.response.once('close', connection.end);
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
          connection.reader?.response.destroy();
        },
      };
      connections.set(token, connection);
      // Not a deadline on work: the client opens or ends the connection in another request.
      const late = setTimeout(connection.end, OPEN_WITHIN_MS);
      // Defer it, so that the operations can first report the key's end.
      const unwatch = keys.watch(caller, () => setImmediate(connection.end));
    },

    endAll() {
      for (const { end } of connections.values()) end();
    },
  };
}
