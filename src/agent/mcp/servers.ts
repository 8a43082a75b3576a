import { LRUCache } from 'lru-cache';
import type { JsonObject } from '../../json.ts';
import type { Egress } from '../egress.ts';
import { connectTo, type McpConnection, type McpLimits, type McpTarget } from './connection.ts';
import { type McpFailure, type McpFailureCode, toMcpFailure } from './failure.ts';
import type { ListedTool } from './listing.ts';
import type { CallResult } from './result.ts';

/**
 * Sessions with servers of the Model Context Protocol, kept for the next use, and begun anew where a server knows
 * them no more. What fails, fails with McpFailure; what is aborted, with the signal's reason.
 */
export type McpServers = {
  list(target: McpTarget, signal: AbortSignal): Promise<ListedTool[]>;
  call(target: McpTarget, call: McpCall, signal: AbortSignal): Promise<CallResult>;
  /** Lists the tools over a session of its own. */
  probe(target: McpTarget, milliseconds: number): Promise<ListedTool[]>;
  close(): Promise<void>;
};

export type McpCall = {
  name: string;
  input: JsonObject;
  /** Whether it may be made again where it is not known if it was made. */
  isRepeatable: boolean;
};

export type McpServersLimits = McpLimits & {
  /** How long a server that could not be reached is taken to be away without trying again. */
  away: number;
};

const MAX_CONNECTIONS = 256;
const IDLE_MS = 10 * 60_000;
const LIMITS: McpServersLimits = { connect: 10_000, call: 60_000, close: 1_000, away: 5_000 };

/** After these there is no use in the connection any more. */
const ENDS_CONNECTION: McpFailureCode[] = ['session-gone', 'away', 'broken'];

/** @param limits those of real life by default. */
export function createMcpServers({
  egress,
  limits: given,
}: {
  egress: Pick<Egress, 'fetch'>;
  limits?: Partial<McpServersLimits>;
}): McpServers {
  const limits = { ...LIMITS, ...given };
  const connections = new LRUCache<string, Promise<McpConnection>>({
    max: MAX_CONNECTIONS,
    ttl: IDLE_MS,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: (connection) => {
      connection.then(
        ({ retire }) => retire(),
        () => {},
      );
    },
  });
  const lifetime = new AbortController();
  const dependencies = { egress, limits, signal: lifetime.signal };
  const away = new LRUCache<string, McpFailure>({ max: MAX_CONNECTIONS, ttl: limits.away || 1 });

  const noteAway = (key: string, failure: McpFailure) => {
    if (limits.away > 0) away.set(key, failure);
  };

  const forget = (key: string, connection: Promise<McpConnection>) => {
    if (connections.peek(key) === connection) connections.delete(key);
  };

  const open = (target: McpTarget): Promise<McpConnection> => {
    const { key } = target;
    const failure = away.get(key);
    if (failure) return Promise.reject(failure);
    const connection = connectTo(target, dependencies);
    connections.set(key, connection);
    connection.catch((failure: McpFailure) => {
      forget(key, connection);
      noteAway(key, failure);
    });
    return connection;
  };

  /** Works with a connection, and once more with a new one where nothing can have been done yet or does harm. */
  const use = async <Value>(
    target: McpTarget,
    isRepeatable: boolean,
    work: (connection: McpConnection) => Promise<Value>,
  ): Promise<Value> => {
    const { key } = target;
    const known = connections.get(key);
    const connection = known ?? open(target);
    try {
      return await work(await connection);
    } catch (error) {
      const failure = toMcpFailure(error);
      if (!ENDS_CONNECTION.includes(failure.code)) throw error;
      forget(key, connection);
      if (!known || !(failure.code === 'session-gone' || isRepeatable)) throw failure;
      return work(await (connections.get(key) ?? open(target)));
    }
  };

  return {
    list: (target, signal) =>
      untilAborted(
        use(target, true, (connection) =>
          connection.tools().catch((failure: McpFailure) => {
            // The next one is not to wait as long again.
            if (failure.code === 'timeout') {
              connections.delete(target.key);
              noteAway(target.key, failure);
            }
            throw failure;
          }),
        ),
        signal,
      ),

    call: (target, { name, input, isRepeatable }, signal) =>
      untilAborted(
        use(target, isRepeatable, (connection) => connection.call(name, input, signal)),
        signal,
      ),

    async probe(target, milliseconds) {
      const own = { ...limits, connect: Math.min(limits.connect, milliseconds) };
      const connection = await connectTo(target, { ...dependencies, limits: own });
      try {
        return await connection.tools();
      } finally {
        connection.retire();
      }
    },

    async close() {
      lifetime.abort();
      const open = [...connections.values()];
      connections.clear();
      await Promise.allSettled(open.map(async (connection) => (await connection).close()));
    },
  };
}

/** A connection is begun for whoever comes next, too: an abort ends the waiting, not the work. */
async function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
