import { createAccounts } from './accounts/accounts.ts';
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
import { startCancel } from './runs/cancel.ts';
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
  /** Open, and closed by whoever opened it. */
  database: Database;
  /** Shared with the other replicas, and closed by whoever opened it; none: this process is the only one. */
  redis?: Redis | undefined;
  cipher: EnvironmentCipher;
  /** The secret key, and those before it: what session tokens are signed under. */
  secretKeys: Uint8Array[];
  model: Model;
  /** `host:port` of private hosts that tools may call. */
  allowedHosts: string[];
  /** The collector that gets traces; none by default. */
  otlpEndpoint?: string | undefined;
  /** How many days runs are kept; for good by default. */
  retentionDays?: number | undefined;
  /** Tells the time that keys and tokens go by, and limits where there is no Redis. */
  clock?: () => number;
};

/** All that Parley does, before any transport. */
export type RunningDomains = {
  domains: Domains;
  sessionTokens: SessionTokens;
  limits: Limits;
  /** Begins to do the runs of the queue. */
  begin(): void;
  /** Begins nothing any more, and waits for the runs at work; stops those that still are after the limit. */
  drain(limitMs: number): Promise<void>;
  /** Ends what goes on in the background. Comes after `drain`. */
  close(): Promise<void>;
};

/**
 * Puts the domains together, on a database and a model that are there, and starts what goes on in the background, but for
 * the runs of the queue: a start may still fail.
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
  const keys = createKeys({ prisma, pubsub, versions, log, now: clock });
  const sessionTokens = createSessionTokens({ secretKeys, keys, now: clock });
  const liveRuns = createLiveRuns({ pubsub });
  const owner = await createOwner({ prisma, sql, log, onLost: liveRuns.stopAll });
  const changes = createChanges({ pubsub });
  const deploymentChanges = createDeploymentChanges({ pubsub });
  const { tell } = changes;
  const queue = createQueue({ prisma, owner, pubsub, tell, log });
  const runs = createRuns({ prisma, sql, owner, pubsub, tell, log });
  const replay = createReplay({ prisma, liveRuns, pubsub });
  const recovery = startRecovery({ prisma, pubsub, tell, log });
  const retention = startRetention({ prisma, log, days: retentionDays });
  const cancel = startCancel({ prisma, owner, liveRuns, replay, pubsub, tell, log });
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
  return {
    domains,
    sessionTokens,
    limits: createLimits({ accounts: windows(), addresses: windows(), now: clock }),
    begin() {
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
      await cancel.close();
      await recovery.close();
      await retention.close();
      await owner.close();
      await pubsub.flush();
      await traceExport?.close();
    },
  };
}

/** What replicas share by Redis. */
function sharedBy(redis: Redis, log: Log) {
  return {
    pubsub: createRedisPubSub(redis),
    versions: createSharedVersions(redis),
    windows: () => createSharedWindows(redis, log),
  };
}

/** The same for a process that is the only one. */
function ownedAlone(clock?: () => number) {
  const versions = createMemoryVersions();
  return {
    pubsub: createPubSub(),
    versions,
    windows: () => createMemoryWindows(clock, versions.current),
  };
}
