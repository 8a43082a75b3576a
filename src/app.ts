import { Server } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { createAccounts } from './accounts/accounts.ts';
import { createKeys } from './accounts/keys.ts';
import { createLimits } from './accounts/limits.ts';
import { createSessionTokens } from './accounts/session-tokens.ts';
import { createAgent } from './agent/agent.ts';
import { startBackground } from './agent/background.ts';
import { createChat } from './agent/chat.ts';
import { createEgress } from './agent/egress.ts';
import { createExecute } from './agent/execute.ts';
import { createToolProbe } from './agent/mcp/probe.ts';
import { createMcpServers } from './agent/mcp/servers.ts';
import { createOnce, createStart } from './agent/start.ts';
import { createToolGroups } from './agent/tools/groups.ts';
import { createWorker } from './agent/work.ts';
import { createBots } from './bots/bots.ts';
import { createActiveDeployments } from './deployments/active.ts';
import { announceDeploys } from './deployments/announce.ts';
import { createDeploymentChanges } from './deployments/changes.ts';
import { createDeployments } from './deployments/deployments.ts';
import type { EnvironmentCipher } from './deployments/environment.ts';
import type { Log } from './log.ts';
import type { Model } from './model/model.ts';
import { createModels } from './model/models.ts';
import { startCancel } from './runs/cancel.ts';
import { createChanges } from './runs/changes.ts';
import { createIdempotency } from './runs/idempotency.ts';
import { createRunList } from './runs/list.ts';
import { createLiveRuns, stopping } from './runs/live.ts';
import { createTraceExport } from './runs/otlp.ts';
import { createQueue } from './runs/queue.ts';
import { startRecovery } from './runs/recovery.ts';
import { createReplay } from './runs/replay.ts';
import { startRetention } from './runs/retention.ts';
import { createRuns } from './runs/runs.ts';
import { createRunStats } from './runs/stats.ts';
import { createTracing } from './runs/trace.ts';
import { createContextFactory } from './schema/context.ts';
import { schema } from './schema/index.ts';
import { createHistory } from './sessions/history.ts';
import { createMemory } from './sessions/memory.ts';
import { createSessions } from './sessions/sessions.ts';
import { createTurns } from './sessions/turns.ts';
import type { Database } from './storage/database.ts';
import { createJobs } from './storage/jobs.ts';
import { createOwner } from './storage/owner.ts';
import { createPubSub, createRedisPubSub } from './storage/pubsub.ts';
import type { Redis } from './storage/redis.ts';
import { createMemoryVersions, createSharedVersions } from './storage/versions.ts';
import { createMemoryWindows, createSharedWindows } from './storage/windows.ts';
import { createAuthenticate } from './transport/authenticate.ts';
import type { ContextOf } from './transport/context-of.ts';
import { createEngine } from './transport/engine.ts';
import { createErrorMask } from './transport/error-mask.ts';
import { createDocuments, type Manifest } from './transport/graphql/documents.ts';
import { serveEventStream } from './transport/graphql/event-stream.ts';
import { serveGraphQL } from './transport/graphql/graphql.ts';
import { createOrigins } from './transport/graphql/origins.ts';
import { createSubscribe } from './transport/graphql/subscriptions.ts';
import { serveWebSocket } from './transport/graphql/websocket.ts';
import { serveHealth } from './transport/health.ts';
import { clientSignal, createHttp, type HttpOptions } from './transport/http.ts';
import { createLimiter, quotaHeaders } from './transport/limit.ts';
import { serveReference } from './transport/rest/reference/serve.ts';
import { serveRest } from './transport/rest/rest.ts';

export type AppOptions = HttpOptions & {
  /** Open, and closed by whoever opened it. */
  database: Database;
  /** Shared with the other replicas, and closed by whoever opened it; none: this process is the only one. */
  redis?: Redis | undefined;
  cipher: EnvironmentCipher;
  /** The secret key, and those before it: what session tokens are signed under. */
  secretKeys: Uint8Array[];
  /** Origins whose pages may call `/graphql*`; none by default. */
  allowedOrigins?: string[];
  /** Documents that clients may ask for by id beside Parley's own, and whether no others run. */
  persistedDocuments?: { manifest?: Manifest | undefined; only?: boolean };
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

export type App = {
  /** The server, which does not listen yet. */
  http: FastifyInstance;
  /**
   * Ends with nothing half done: takes no new connections, closes those that are idle, waits for the runs at work,
   * stops those that still are after the limit, ends the streams of those at work elsewhere that still are then, and
   * closes.
   */
  close(drainLimitMs?: number): Promise<void>;
};

const DRAIN_LIMIT_MS = 25_000;
/** How long an answer that is ready may take to leave, however late it is. */
const SEND_LIMIT_MS = 1_000;

/** Puts the whole of Parley together, on a database and a model that are there. It never listens. */
export async function createApp({
  database,
  redis,
  cipher,
  secretKeys,
  allowedOrigins = [],
  persistedDocuments,
  model,
  allowedHosts,
  otlpEndpoint,
  retentionDays,
  clock,
  ...httpOptions
}: AppOptions): Promise<App> {
  const documents = createDocuments(schema, persistedDocuments);
  const { prisma, sql } = database;
  const { app: http, answers } = createHttp({ ...httpOptions, limiter: () => limiter });
  redis?.logTo(http.log);
  const { pubsub, versions, windows } = redis ? sharedBy(redis, http.log) : ownedAlone(clock);
  const keys = createKeys({ prisma, pubsub, log: http.log, now: clock });
  const sessionTokens = createSessionTokens({ secretKeys, keys, now: clock });
  const liveRuns = createLiveRuns();
  const owner = await createOwner({ prisma, sql, log: http.log, onLost: liveRuns.stopAll });
  const changes = createChanges({ pubsub });
  const deploymentChanges = createDeploymentChanges({ pubsub });
  const { tell } = changes;
  const jobs = await createJobs({ prisma });
  const queue = createQueue({ prisma, jobs, owner, pubsub, tell, log: http.log });
  const runs = createRuns({ prisma, sql, owner, pubsub, tell, log: http.log });
  const replay = createReplay({ prisma, liveRuns, pubsub });
  const recovery = startRecovery({ prisma, jobs, pubsub, tell, log: http.log });
  const retention = startRetention({ prisma, log: http.log, days: retentionDays });
  const cancel = startCancel({ prisma, owner, liveRuns, replay, pubsub, tell, log: http.log });
  const idempotency = createIdempotency({ prisma, owner, pubsub, log: http.log });
  const turns = createTurns({ prisma, sql, owner, pubsub, log: http.log });
  const history = createHistory({ sql });
  const memory = createMemory({ prisma });
  const egress = createEgress({ allowedHosts });
  const servers = createMcpServers({ egress });
  const toolGroups = createToolGroups({ egress, servers, log: http.log });
  const models = createModels({ standard: model, fetch: egress.fetch });
  const traceExport = otlpEndpoint
    ? createTraceExport({ endpoint: otlpEndpoint, log: http.log })
    : undefined;
  const tracing = createTracing({ exporter: traceExport?.processor });
  const activeDeployments = createActiveDeployments({ prisma, cipher });
  const agent = createAgent({ history, memory, models, toolGroups, log: http.log });
  const worker = createWorker({ agent, runs, tracing, log: http.log });
  const once = createOnce({ idempotency, replay });
  const start = createStart({ liveRuns, once });
  const background = startBackground({
    queue,
    worker,
    liveRuns,
    activeDeployments,
    pubsub,
    log: http.log,
  });
  const createContext = createContextFactory({
    prisma,
    keys,
    sessionTokens,
    accounts: createAccounts({ prisma, pubsub }),
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
  });
  const authenticate = createAuthenticate({ keys, sessionTokens });
  const limiter = createLimiter({
    authenticate,
    limits: createLimits({ accounts: windows(), addresses: windows() }),
  });
  const contextOf: ContextOf = async (request, reply, signal = clientSignal(reply)) => {
    const admission = limiter.admitted(request);
    const authentication =
      admission?.authentication ?? (await authenticate(request.headers.authorization));
    return createContext({
      authentication,
      bot: admission?.bot,
      signal,
      setHeader: (name, value) => reply.header(name, value),
      traceparent: request.headers.traceparent,
      take: async (cost) => {
        const quota = await limiter.take(authentication, request.ip, cost);
        reply.headers(quotaHeaders(quota));
        return quota;
      },
    });
  };

  let closing = false;
  const engine = await createEngine(http, schema);
  await http.register(serveRest, {
    prefix: '/v1',
    engine,
    contextOf,
    authenticate,
    answers,
  });
  await http.register(serveReference);
  const maskError = createErrorMask(http.log);
  const origins = createOrigins(allowedOrigins);
  const graphql = { schema, maskError, origins, documents, subscribe: createSubscribe() };
  await http.register(serveGraphQL, { ...graphql, contextOf });
  await http.register(serveEventStream, { ...graphql, contextOf, authenticate, limiter, keys });
  await http.register(serveWebSocket, { ...graphql, authenticate, limiter, createContext, keys });
  await http.register(serveHealth, {
    dependencies: { database: database.ping, ...(redis && { redis: redis.ping }) },
    isClosing: () => closing,
  });

  return {
    http,
    async close(drainLimitMs = DRAIN_LIMIT_MS) {
      closing = true;
      const deadline = performance.now() + drainLimitMs;
      // Only stops listening: an HTTP server's own close() also cuts answers that have not all left yet.
      Server.prototype.close.call(http.server);
      answers.closeConnections();
      await background.close();
      await liveRuns.drain(drainLimitMs);
      // Those who read the last events of a run take their turn before the answers are counted.
      await setImmediate();
      await answers.sent(Math.max(deadline - performance.now(), SEND_LIMIT_MS));
      answers.endStreams(stopping());
      await answers.sent(SEND_LIMIT_MS);
      await http.close();
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
