import { LRUCache } from 'lru-cache';
import type { Egress } from '../../egress/egress.ts';
import type { JsonObject } from '../../json.ts';
import { connectTo, type McpConnection, type McpLimits, type McpTarget } from './connection.ts';
import { McpFailure, type McpFailureCode, toMcpFailure } from './failure.ts';
import type { Listing } from './listing.ts';
import type { CallResult } from './result.ts';

/**
 * Sessions with servers of the Model Context Protocol, kept for the next use for 10 minutes, and begun anew where a
 * server has forgotten them. An account has at most 64 at once, the process 512: a new one closes the one that is idle
 * longest, and fails where all are in use. What fails, fails with McpFailure; what is aborted, with the signal's reason.
 */
export type McpServers = {
  list(target: McpTarget, signal: AbortSignal): Promise<Listing>;
  call(target: McpTarget, call: McpCall, signal: AbortSignal): Promise<CallResult>;
  /**
   * Lists the first 1,000 tools over a session of its own. At most 64 are probed at once: others fail with
   * `too-many`.
   */
  probe(target: McpTarget, milliseconds: number): Promise<Listing>;
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
  /** Of the process. */
  connections: number;
  /** Of one account. */
  accountConnections: number;
};

/** A connection, or one that is being made, and how many wait for something over it. */
type Pooled = { accountId: string; connection: Promise<McpConnection>; users: number };

const MAX_PROBES = 64;
const PROBED_TOOLS = 1_000;
const IDLE_MS = 10 * 60_000;
const LIMITS: McpServersLimits = {
  connect: 10_000,
  call: 60_000,
  close: 1_000,
  away: 5_000,
  tools: 128,
  connections: 512,
  accountConnections: 64,
};

/** After these there is no use in the connection any more. */
const ENDS_CONNECTION: McpFailureCode[] = ['session-gone', 'away', 'broken'];

/** @param limits those of real life by default. */
export function createMcpServers({
  egress,
  limits: given,
}: {
  egress: Pick<Egress, 'of'>;
  limits?: Partial<McpServersLimits>;
}): McpServers {
  const limits = { ...LIMITS, ...given };
  const connections = new LRUCache<string, Pooled>({
    max: limits.connections,
    ttl: IDLE_MS,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: ({ connection }) => {
      connection.then(
        ({ retire }) => retire(),
        () => {},
      );
    },
  });
  let probes = 0;
  const lifetime = new AbortController();
  const dependencies = { egress, limits, signal: lifetime.signal };
  const away = new LRUCache<string, McpFailure>({ max: limits.connections, ttl: limits.away || 1 });

  const noteAway = (key: string, failure: McpFailure) => {
    if (limits.away > 0) away.set(key, failure);
  };

  const forget = (key: string, pooled: Pooled) => {
    if (connections.peek(key) === pooled) connections.delete(key);
  };

  /** Closes the longest idle of these where there are as many as may be. @throws McpFailure `too-many` */
  const makeRoom = (isOne: (pooled: Pooled) => boolean, most: number) => {
    const keys = [...connections.rkeys()].filter((key) => {
      const pooled = connections.peek(key);
      return pooled && isOne(pooled);
    });
    if (keys.length < most) return;
    const idle = keys.find((key) => connections.peek(key)?.users === 0);
    if (idle === undefined) throw tooMany();
    connections.delete(idle);
  };

  const open = (target: McpTarget): Pooled => {
    const { key, accountId } = target;
    const failure = away.get(key);
    if (failure) throw failure;
    makeRoom((pooled) => pooled.accountId === accountId, limits.accountConnections);
    makeRoom(() => true, limits.connections);
    const pooled = { accountId, connection: connectTo(target, dependencies), users: 0 };
    connections.set(key, pooled);
    pooled.connection.catch((failure: McpFailure) => {
      forget(key, pooled);
      noteAway(key, failure);
    });
    return pooled;
  };

  const useOne = async <Value>(
    pooled: Pooled,
    work: (connection: McpConnection) => Promise<Value>,
  ): Promise<Value> => {
    pooled.users += 1;
    try {
      return await work(await pooled.connection);
    } finally {
      pooled.users -= 1;
    }
  };

  /** Works with a connection, and once more with a new one where nothing can have been done yet or does harm. */
  const use = async <Value>(
    target: McpTarget,
    isRepeatable: boolean,
    work: (connection: McpConnection) => Promise<Value>,
  ): Promise<Value> => {
    const { key } = target;
    const known = connections.get(key);
    const pooled = known ?? open(target);
    try {
      return await useOne(pooled, work);
    } catch (error) {
      const failure = toMcpFailure(error);
      if (!ENDS_CONNECTION.includes(failure.code)) throw error;
      forget(key, pooled);
      if (!known || !(failure.code === 'session-gone' || isRepeatable)) throw failure;
      return useOne(connections.get(key) ?? open(target), work);
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
      if (probes === MAX_PROBES) throw tooMany();
      const connect = Math.min(limits.connect, milliseconds);
      const own = { ...limits, connect, tools: PROBED_TOOLS };
      probes += 1;
      try {
        const connection = await connectTo(target, { ...dependencies, limits: own });
        return await connection.tools().finally(connection.retire);
      } finally {
        probes -= 1;
      }
    },

    async close() {
      lifetime.abort();
      const open = [...connections.values()];
      connections.clear();
      await Promise.allSettled(open.map(async ({ connection }) => (await connection).close()));
    },
  };
}

function tooMany(): McpFailure {
  const message = 'Too many connections to tool servers are in use.';
  return new McpFailure('too-many', message, { type: 'too_many_connections' });
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
