import { LRUCache } from 'lru-cache';
import { untilAborted } from '../../async/deadline.ts';
import type { Egress } from '../../egress/egress.ts';
import type {
  McpCall,
  McpConnection,
  McpConnectionDependencies,
  McpLimits,
  McpTarget,
} from './connection.ts';
import { McpFailure, type McpFailureCode, toMcpFailure } from './failure.ts';
import type { Listing } from './listing.ts';
import type { CallResult } from './result.ts';

/**
 * A pool of sessions with MCP servers. An idle session is kept for 10 minutes. A session that its server has discarded is
 * opened again. An account has at most 64 sessions, the process 512: at the limit, a new session closes the one that
 * has been idle longest, or fails if all are in use. Calls fail with McpFailure, or with the signal's reason if aborted.
 */
export type McpServers = {
  list(target: McpTarget, signal: AbortSignal): Promise<Listing>;
  call(target: McpTarget, call: McpCall, signal: AbortSignal): Promise<CallResult>;
  /**
   * Lists the first 1,000 tools over a separate session. At most 64 probes run at once; more fail with `too-many`.
   */
  probe(target: McpTarget, milliseconds: number): Promise<Listing>;
  close(): Promise<void>;
};

export type McpServersLimits = McpLimits & {
  /** Milliseconds before an unreachable server is tried again. */
  unreachable: number;
  /** Sessions of the process. */
  connections: number;
  /** Sessions of one account. */
  accountConnections: number;
};

/** An open or opening connection. `users` counts its calls in progress. */
type Pooled = { accountId: string; connection: Promise<McpConnection>; users: number };

const MAX_PROBES = 64;
const PROBED_TOOLS = 1_000;
const IDLE_MS = 10 * 60_000;
const LIMITS: McpServersLimits = {
  connect: 10_000,
  call: 60_000,
  close: 1_000,
  unreachable: 5_000,
  tools: 128,
  connections: 512,
  accountConnections: 64,
};

/** Failures after which the connection is unusable. */
const ENDS_CONNECTION: McpFailureCode[] = ['session-gone', 'unreachable', 'broken'];

/** @param limits override the defaults. */
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
  const unreachable = new LRUCache<string, McpFailure>({
    max: limits.connections,
    ttl: limits.unreachable || 1,
  });

  const noteUnreachable = (key: string, failure: McpFailure) => {
    if (limits.unreachable > 0) unreachable.set(key, failure);
  };

  const forget = (key: string, pooled: Pooled) => {
    if (connections.peek(key) === pooled) connections.delete(key);
  };

  /** At the limit, evicts the connection that has been idle longest. @throws McpFailure `too-many` */
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
    const failure = unreachable.get(key);
    if (failure) throw failure;
    makeRoom((pooled) => pooled.accountId === accountId, limits.accountConnections);
    makeRoom(() => true, limits.connections);
    const pooled = { accountId, connection: connectTo(target, dependencies), users: 0 };
    connections.set(key, pooled);
    pooled.connection.catch((failure: McpFailure) => {
      forget(key, pooled);
      noteUnreachable(key, failure);
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

  /** Uses a connection. Retries once over a new one if the server has done nothing or the work is repeatable. */
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
    // An abort ends the waiting, not the work: other callers may use the same connection.
    list: (target, signal) =>
      untilAborted(
        use(target, true, (connection) =>
          connection.tools().catch((failure: McpFailure) => {
            // Later callers must not wait for the same timeout.
            if (failure.code === 'timeout') {
              connections.delete(target.key);
              noteUnreachable(target.key, failure);
            }
            throw failure;
          }),
        ),
        signal,
      ),

    call: (target, call, signal) =>
      untilAborted(
        use(target, call.isRepeatable, (connection) => connection.call(call, signal)),
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

/** Loads the MCP client with the first connection. @throws McpFailure */
async function connectTo(
  target: McpTarget,
  dependencies: McpConnectionDependencies,
): Promise<McpConnection> {
  const client = await import('./connection.ts');
  return client.connectTo(target, dependencies);
}
