import { createAccounts } from './accounts/accounts.ts';
import { createKeyWatchers } from './accounts/key-watchers.ts';
import { createKeys } from './accounts/keys.ts';
import { createLimits, type Limits } from './accounts/limits.ts';
import { createSessionTokens, type SessionTokens } from './accounts/session-tokens.ts';
import { createAgent } from './agent/agent.ts';
import { createToolProbe } from './agent/mcp/probe.ts';
import { createMcpServers } from './agent/mcp/servers.ts';
import { createToolGroups } from './agent/tools/groups.ts';
import { createBots } from './bots/bots.ts';
import { createMemoryVersions, createSharedVersions } from './coordination/cache-versions.ts';
import { createMemoryWindows, createSharedWindows } from './coordination/fixed-window-counter.ts';
import { createPubSub, createRedisPubSub } from './coordination/pubsub.ts';
import type { Redis } from './coordination/redis.ts';
import { createOwner } from './coordination/worker-lease.ts';
import { createActiveDeployments } from './deployments/active.ts';
import { announceDeploys } from './deployments/announce.ts';
import { createDeploymentChanges } from './deployments/changes.ts';
import { createDeployments } from './deployments/deployments.ts';
import type { EnvironmentCipher } from './deployments/environment.ts';
import { createEgress } from './egress/egress.ts';
import { type Background, startBackground } from './execution/queue-consumer.ts';
import { createWorker } from './execution/run-executor.ts';
import { createOnce, createStart } from './execution/start.ts';
import { createChat } from './execution/start-chat.ts';
import { createExecute } from './execution/start-execute.ts';
import { createIdempotency } from './idempotency/runs.ts';
import type { Log } from './log.ts';
import type { Model } from './model/model.ts';
import { createModels } from './model/models.ts';
import { createLiveRuns } from './runs/active-runs.ts';
import { createCancel } from './runs/cancel.ts';
import { createChanges } from './runs/changes.ts';
import { createRunList } from './runs/list.ts';
import { createTraceExport } from './runs/otlp.ts';
import { createQueue } from './runs/queue.ts';
import { startRecovery } from './runs/recovery.ts';
import { createReplay } from './runs/replay.ts';
import { startRetention } from './runs/retention.ts';
import { createRuns } from './runs/runs.ts';
import { createRunStats } from './runs/stats.ts';
import { createTracing } from './runs/trace.ts';
import type { Domains } from './schema/context.ts';
import { createHistory } from './sessions/history.ts';
import { createMemory } from './sessions/memory.ts';
import { createSessions } from './sessions/sessions.ts';
import { createTurns } from './sessions/turns.ts';
import type { Database } from './storage/database.ts';

export type DomainOptions = {
  /** Open. The caller closes it. */
  database: Database;
  /** Shared by all replicas. The caller closes it. None: this process is the only replica. */
  redis?: Redis | undefined;
  cipher: EnvironmentCipher;
  /** The secret key, then the previous ones. Session tokens are encrypted with them. */
  secretKeys: Uint8Array[];
  model: Model;
  /** `host:port` of private hosts that tools may call. */
  allowedHosts: string[];
  /** Base URL of the collector that receives traces; none by default. */
  otlpEndpoint?: string | undefined;
  /** Days that runs are kept; forever by default. */
  retentionDays?: number | undefined;
  /** Milliseconds since the epoch, for the expiry of keys and tokens, and for limits without Redis. */
  clock?: () => number;
};

/** The domains, which know no transport. */
export type RunningDomains = {
  domains: Domains;
  sessionTokens: SessionTokens;
  limits: Limits;
  /** Starts to execute queued runs. */
  begin(): void;
  /** Starts no more runs and waits for the active ones. It aborts the remaining ones after the limit. */
  drain(limitMs: number): Promise<void>;
  /** Stops the background tasks. Call it after `drain`. */
  close(): Promise<void>;
};

/**
 * Composes the domains from an open database and a model, and starts their background tasks. It does not yet execute
 * queued runs, because the rest of the start may fail.
 */
export async function startDomains({
  database: { prisma, sql },
  redis,
  cipher,
  secretKeys,
  model,
  allowedHosts,
  otlpEndpoint,
  retentionDays,
  clock,
  log,
}: DomainOptions & { log: Log }): Promise<RunningDomains> {
  const { pubsub, versions, windows } = redis ? sharedBy(redis, log) : ownedAlone(clock);
  const watchers = createKeyWatchers({ prisma, log, now: clock });
  const keys = createKeys({ prisma, pubsub, versions, watchers, log, now: clock });
  const sessionTokens = createSessionTokens({ secretKeys, keys, now: clock });
  const liveRuns = createLiveRuns({ pubsub });
  const owner = await createOwner({ prisma, sql, log, onLost: liveRuns.stopAll });
  const changes = createChanges({ pubsub });
  const deploymentChanges = createDeploymentChanges({ pubsub });
  const { tell } = changes;
  const queue = createQueue({ prisma, owner, pubsub, tell, log });
  const runs = createRuns({ prisma, sql, owner, pubsub, tell, log });
  const replay = createReplay({ prisma, liveRuns, pubsub });
  const cancel = createCancel({ prisma, owner, liveRuns, replay, pubsub, tell, log });
  const idempotency = createIdempotency({ prisma, owner, pubsub, log });
  const turns = createTurns({ prisma, sql, owner, pubsub, log });
  const history = createHistory({ sql });
  const memory = createMemory({ prisma });
  const egress = createEgress({ allowedHosts });
  const servers = createMcpServers({ egress });
  const toolGroups = createToolGroups({ egress, servers, log });
  const models = createModels({
    standard: model,
    fetchOf: (accountId) => egress.of(accountId).fetch,
  });
  const traceExport = otlpEndpoint ? createTraceExport({ endpoint: otlpEndpoint, log }) : undefined;
  const tracing = createTracing({ exporter: traceExport?.processor });
  const activeDeployments = createActiveDeployments({ prisma, cipher });
  const agent = createAgent({ history, memory, models, toolGroups, log });
  const worker = createWorker({ agent, runs, tracing, log });
  const once = createOnce({ idempotency, replay });
  const start = createStart({ liveRuns, once });
  const domains: Domains = {
    prisma,
    keys,
    sessionTokens,
    accounts: createAccounts({ prisma, versions }),
    bots: createBots({ prisma, pubsub, versions }),
    sessions: createSessions({ prisma, memory, turns }),
    deployments: announceDeploys(
      createDeployments({ prisma, cipher, probeTools: createToolProbe({ servers }) }),
      versions,
      deploymentChanges,
    ),
    deploymentChanges,
    runChanges: changes,
    chat: createChat({ activeDeployments, turns, worker, start }),
    execute: createExecute({ activeDeployments, worker, start, once, queue, replay }),
    runList: createRunList({ prisma }),
    runStats: createRunStats({ prisma }),
    replay,
    cancel,
  };
  let background: Background | undefined;
  const tasks = new AsyncDisposableStack();
  return {
    domains,
    sessionTokens,
    limits: createLimits({ accounts: windows(), addresses: windows(), now: clock }),
    begin() {
      tasks.use(owner.start());
      tasks.use(watchers.start());
      tasks.use(startRetention({ prisma, log, days: retentionDays }));
      tasks.use(startRecovery({ prisma, pubsub, tell, log }));
      tasks.use(cancel.start());
      background = startBackground({
        queue,
        worker,
        liveRuns,
        activeDeployments,
        pubsub,
        log,
      });
    },
    async drain(limitMs) {
      await background?.close();
      await liveRuns.drain(limitMs);
    },
    async close() {
      await servers.close();
      await egress.close();
      await tasks.disposeAsync();
      await owner.close();
      await pubsub.flush();
      await traceExport?.close();
    },
  };
}

/** State that the replicas share in Redis. */
function sharedBy(redis: Redis, log: Log) {
  return {
    pubsub: createRedisPubSub(redis),
    versions: createSharedVersions(redis),
    windows: () => createSharedWindows(redis, log),
  };
}

/** The same state in memory, for a single process. */
function ownedAlone(clock?: () => number) {
  const versions = createMemoryVersions();
  return {
    pubsub: createPubSub(),
    versions,
    windows: () => createMemoryWindows(clock, versions.current),
  };
}
