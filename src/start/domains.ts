import { createAccountsDomain } from '../accounts/compose.ts';
import type { ConsoleSessions } from '../accounts/console-sessions.ts';
import type { Limits } from '../accounts/limits.ts';
import type { SessionTokens } from '../accounts/session-tokens.ts';
import type { SignInCodes } from '../accounts/sign-in-codes.ts';
import type { FindVisited } from '../accounts/visitors.ts';
import { createAgentDomain } from '../agent/compose.ts';
import { createModelTests } from '../agent/model-tests.ts';
import { createSentPrompts } from '../agent/sent-prompt.ts';
import type { Lifetime } from '../async/lifetime.ts';
import { type PeriodicTask, startPeriodic } from '../async/periodic.ts';
import { createBots } from '../bots/bots.ts';
import {
  createChannelConnections,
  createChannelsDomain,
  type TelegramOptions,
} from '../channels/compose.ts';
import type { TelegramWebhook } from '../channels/telegram/webhook.ts';
import { createChatPages } from '../channels/web/chat-pages.ts';
import { createVisits, type Visits } from '../channels/web/visits.ts';
import { createCoordination } from '../coordination/compose.ts';
import { createOtherProcesses } from '../coordination/other-processes.ts';
import type { Redis } from '../coordination/redis.ts';
import { createServerState } from '../coordination/server-state.ts';
import { createOwner } from '../coordination/worker-lease.ts';
import { createActiveDeployments } from '../deployments/active.ts';
import { createDeploymentsDomain } from '../deployments/compose.ts';
import type { EnvironmentCipher } from '../deployments/environment.ts';
import { createExecutionDomain } from '../execution/compose.ts';
import type { Model } from '../model/model.ts';
import type { Log } from '../observability/log.ts';
import { type Observer, UNOBSERVED } from '../observability/observer.ts';
import { createRunsDomain } from '../runs/compose.ts';
import { createActiveRuns } from '../runs/life/active-runs.ts';
import type { QueueDepth } from '../runs/queue/queue-depth.ts';
import type { ResourceAttributes } from '../runs/trace/resource.ts';
import type { Domains } from '../schema/context.ts';
import { createSessionsDomain } from '../sessions/compose.ts';
import type { Database } from '../storage/database.ts';

export type DomainOptions = {
  /** Open. The caller closes it. */
  database: Database;
  /** Shared by all replicas. The caller closes it. None: this process is the only replica. */
  redis?: Redis | undefined;
  cipher: EnvironmentCipher;
  /** The secret key, then the previous ones. Session tokens are encrypted with them. */
  secretKeys: Uint8Array[];
  model: Model;
  /** Origins whose pages may call `/graphql*`; none by default. */
  allowedOrigins?: string[] | undefined;
  /** `host:port` of private hosts that tools may call. */
  allowedHosts: string[];
  /**
   * The server's public base URL, without a trailing slash. Telegram sends updates there if it is `https:`; else they are polled. The examples in
   * the API reference have it too; by default they have the URL of the reader's request.
   */
  publicUrl?: string | undefined;
  /** The Bot API server, and time limits for it. */
  telegram?: TelegramOptions | undefined;
  /** Base URL of the collector that receives traces; none by default. */
  otlpEndpoint?: string | undefined;
  /** Describes this process to the collector, besides its name, version and instance. */
  resourceAttributes?: ResourceAttributes | undefined;
  /** Days that runs are kept; forever by default. */
  retentionDays?: number | undefined;
  /** Days that the prompts of runs are stored; 0: not at all. 30 by default. */
  promptDays?: number | undefined;
  /** Milliseconds since the epoch, for the expiry of keys and tokens, and for limits without Redis. */
  clock?: () => number;
  log: Log;
  /** Starts the background tasks and closes the resources of the domains. */
  lifetime: Lifetime;
};

/** The domains, which know no transport. */
export type ComposedDomains = {
  domains: Domains;
  sessionTokens: SessionTokens;
  consoleSessions: ConsoleSessions;
  signInCodes: SignInCodes;
  limits: Limits;
  visits: Visits;
  findVisited: FindVisited;
  /** The warnings that `/readyz` shows, as fixed sentences. */
  warnings(): string[];
  /** The length of the queue, for the metrics. */
  queueDepth(): Promise<QueueDepth>;
  telegramWebhook: TelegramWebhook;
  /** Starts no more runs and waits for the active ones. It aborts the remaining ones after the limit. */
  drain(limitMs: number): Promise<void>;
};

/** How often the tables of the embedded database are checked for growth. */
const ANALYZE_EVERY_MS = 60_000;

function startAnalysis(analyze: () => Promise<void>, log: Log): PeriodicTask {
  return startPeriodic(analyze, {
    everyMs: ANALYZE_EVERY_MS,
    isImmediate: true,
    log,
    what: 'Analysis of the embedded database',
  });
}

/**
 * Composes the domains from an open database and a model. The caller drains them before the lifetime ends.
 *
 * @param observer receives the events that the metrics count; absent by default.
 */
export async function createDomains(
  {
    database,
    redis,
    cipher,
    secretKeys,
    model,
    allowedOrigins = [],
    allowedHosts,
    publicUrl,
    telegram,
    otlpEndpoint,
    resourceAttributes,
    retentionDays,
    promptDays,
    clock,
    log,
    lifetime,
  }: DomainOptions,
  observer: Observer = UNOBSERVED,
): Promise<ComposedDomains> {
  const { prisma, sql, search, analyze } = database;
  const { pubsub, versions, createCounter } = createCoordination({ redis, clock, log, lifetime });
  const {
    accounts,
    keys,
    sessionTokens,
    findVisited,
    lookUps,
    consoleSessions,
    signInCodes,
    limits,
  } = createAccountsDomain({
    prisma,
    pubsub,
    versions,
    createCounter,
    secretKeys,
    clock,
    log,
    lifetime,
  });
  const activeRuns = createActiveRuns({ pubsub });
  const owner = await createOwner({ prisma, sql, log, onLost: activeRuns.abortAll });
  lifetime.defer(owner.close);
  lifetime.onStart(owner.start);
  const isShared = database.name === 'PostgreSQL' && !redis;
  const others = isShared ? createOtherProcesses({ sql, owner, log }) : undefined;
  if (others) lifetime.onStart(others.start);
  if (analyze) lifetime.onStart(() => startAnalysis(analyze, log));
  const { sessions, history, memory, turns } = createSessionsDomain({
    prisma,
    sql,
    owner,
    pubsub,
    log,
  });
  const {
    runs,
    queue,
    queueDepth,
    runList,
    runExport,
    runFeedback,
    runStats,
    runUsage,
    runChanges,
    replay,
    cancel,
    tracing,
  } = await createRunsDomain({
    prisma,
    sql,
    search,
    owner,
    activeRuns,
    pubsub,
    otlpEndpoint,
    resourceAttributes,
    retentionDays,
    promptDays,
    clock,
    observer,
    log,
    lifetime,
  });
  const { agent, models, probeTools } = createAgentDomain({
    history,
    memory,
    model,
    allowedHosts,
    observer,
    log,
    lifetime,
  });
  const activeDeployments = createActiveDeployments({ prisma, cipher });
  const connections = createChannelConnections({
    prisma,
    pubsub,
    activeDeployments,
    publicUrl,
    telegram,
    log,
    lifetime,
  });
  const { connector } = connections;
  const { deploy, deployChecks, deploymentChanges, drafts } = createDeploymentsDomain({
    prisma,
    pubsub,
    versions,
    cipher,
    probeTools,
    connections: connector,
    allowedHosts,
  });
  const execution = createExecutionDomain({
    prisma,
    owner,
    pubsub,
    activeDeployments,
    drafts,
    agent,
    sessions,
    turns,
    activeRuns,
    runs,
    queue,
    replay,
    tracing,
    promptDays,
    observer,
    log,
    lifetime,
  });
  const { startChat, startExecute } = execution;
  const visits = createVisits({
    sessionTokens,
    counter: createCounter(),
    secretKeys,
    now: clock,
  });
  const { telegramWebhook, stopTaking } = createChannelsDomain({
    prisma,
    owner,
    pubsub,
    limits,
    lookUps,
    activeDeployments,
    connections,
    sessions,
    cancel,
    startChat,
    log,
    lifetime,
  });
  return {
    domains: {
      prisma,
      accounts,
      keys,
      sessionTokens,
      signInCodes,
      bots: createBots({ prisma, pubsub, versions, releaseChannels: connector.release }),
      deploy,
      deployChecks,
      deploymentChanges,
      sessions,
      startChat,
      startExecute,
      runList,
      runExport,
      runFeedback,
      sentPrompts: createSentPrompts({ prisma, activeDeployments }),
      modelTests: createModelTests({ models, activeDeployments, counter: createCounter() }),
      runStats,
      runUsage,
      runChanges,
      replay,
      cancel,
      chatPages: createChatPages({ prisma, activeDeployments, publicUrl }),
      visits,
      server: createServerState({ database, redis, model, allowedOrigins }),
    },
    sessionTokens,
    consoleSessions,
    signInCodes,
    limits,
    visits,
    findVisited,
    warnings: () => [...(redis?.state().warnings ?? []), others?.warning() ?? []].flat(),
    queueDepth,
    telegramWebhook,
    async drain(limitMs) {
      await stopTaking();
      await execution.drain(limitMs);
    },
  };
}
