import { Server } from 'node:net';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { stopping } from '../runs/life/active-runs.ts';
import { createContextFactory } from '../schema/context.ts';
import { schema } from '../schema/index.ts';
import { createAuthenticate } from '../transport/authenticate.ts';
import { createAuthenticateRequest } from '../transport/authenticate-request.ts';
import { createBodyMemory } from '../transport/body-memory.ts';
import { serveLogos } from '../transport/chat/logo.ts';
import { serveChatPages } from '../transport/chat/page.ts';
import { serveVisits } from '../transport/chat/session.ts';
import { createConsolePage, serveConsole } from '../transport/console/serve.ts';
import { serveSession } from '../transport/console/session.ts';
import { createContextOf } from '../transport/context-of.ts';
import { createEngine } from '../transport/engine.ts';
import { createErrorMask } from '../transport/error-mask.ts';
import { createAdmission } from '../transport/graphql/admission.ts';
import { createDocuments, type Manifest } from '../transport/graphql/documents.ts';
import { serveEventStream } from '../transport/graphql/event-stream.ts';
import { serveGraphiQLFiles } from '../transport/graphql/graphiql/serve.ts';
import { createOrigins } from '../transport/graphql/origins.ts';
import { createSubscribe } from '../transport/graphql/subscriptions.ts';
import { serveWebSocket } from '../transport/graphql/websocket.ts';
import { serveGraphQL } from '../transport/graphql/yoga.ts';
import { serveHealth } from '../transport/health.ts';
import { createHttp, type HttpOptions } from '../transport/http.ts';
import { serveMcp } from '../transport/mcp/serve.ts';
import { countResponses, createMetricsServer, serveMetrics } from '../transport/metrics/serve.ts';
import { openaiRoutes } from '../transport/openai/routes.ts';
import { createLimiter } from '../transport/rate-limit.ts';
import { createStreamLimit } from '../transport/reading.ts';
import { serveReference } from '../transport/rest/reference/serve.ts';
import { serveRest } from '../transport/rest/rest.ts';
import { restRoutes } from '../transport/rest/routes.ts';
import { routes } from '../transport/routes.ts';
import { closeEvenly, createOpenStreams } from '../transport/stream-drain.ts';
import { serveTelegramWebhook } from '../transport/telegram-webhook.ts';
import type { DomainOptions } from './composed-domains.ts';
import { createDomains } from './domains.ts';

export type AppOptions = HttpOptions &
  DomainOptions & {
    /** Who may read the metrics: holders of the token, and clients of the metrics server. None: no metrics. */
    metrics?: { token?: string | undefined; server?: boolean } | undefined;
    /** Documents that clients may run by id, besides Parley's own. With `only`, no other documents run. */
    persistedDocuments?: { manifest?: Manifest | undefined; only?: boolean };
  };

export type App = {
  /** The server. It does not listen yet. */
  http: FastifyInstance;
  /** The server of the metrics, if it was requested. It does not listen yet. */
  metricsHttp: FastifyInstance | undefined;
  /** Issues a code that signs in to the console once, with the rights of a key. */
  issueSignInCode(keyId: string): Promise<string>;
  /** Makes `/readyz` answer 200. Call it after the database is seeded. */
  setReady(): void;
  /**
   * Prepares a graceful shutdown. `/readyz` answers 503 from its beginning. It waits until balancers have noticed, then
   * accepts no new connections, closes idle ones and waits for the active runs. After their limit it aborts this replica's
   * runs. Then it closes the streams that have no end of their own, and the streams of runs that other replicas execute, at an
   * even pace. Then the lifetime may end.
   *
   * @param pause waits for some milliseconds, before the listeners close and between the streams.
   */
  drain(times: DrainTimes, pause?: (ms: number) => Promise<unknown>): Promise<void>;
};

/** The steps of a shutdown, in milliseconds. */
export type DrainTimes = {
  /** How long requests are still accepted. */
  delayMs: number;
  /** How long active runs may take to finish. */
  runsMs: number;
  /** How long it takes at most to close the streams, from the first to the last. */
  streamsMs: number;
};

/** Time to send finished responses, even after the drain limit. */
const SEND_LIMIT_MS = 1_000;

/**
 * Composes the whole app from an open database and a model. It does not listen, and its background tasks start with the
 * lifetime.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const { database, redis, publicUrl, allowedOrigins = [], connectionLimits, lifetime } = options;
  const { metrics: metricsAccess } = options;
  const documents = createDocuments(schema, options.persistedDocuments);
  const metrics = metricsAccess && (await openMetrics());
  const observer = metrics?.observer;
  const {
    domains,
    sessionTokens,
    consoleSessions,
    signInCodes,
    limits,
    warnings,
    queueDepth,
    telegramWebhook,
    visits,
    findVisited,
    findLogo,
    drain,
  } = await createDomains(options, observer);
  const { keys, chatPages } = domains;
  const authenticate = createAuthenticate({ keys, sessionTokens, consoleSessions, limits });
  const authenticateRequest = createAuthenticateRequest({ authenticate });
  const limiter = createLimiter({ authenticate, limits, observer });
  const bodyMemory = createBodyMemory();
  const sendPage = createConsolePage();
  const shared = { limiter, bodyMemory, sendPage };
  const { app: http, responses, connections } = createHttp(options, shared);
  lifetime.defer(() => http.close());
  const createContext = createContextFactory(domains);
  const contextOf = createContextOf({ createContext, authenticateRequest, limiter, connections });
  if (metrics) {
    metrics.readFrom({ server: http.server, queueDepth, isRedisDegraded: redis?.isDegraded });
    countResponses(http, metrics);
    lifetime.onStart(metrics.start);
  }

  let isReady = false;
  let isClosing = false;
  const acquireStream = createStreamLimit();
  const streams = createOpenStreams();
  const engine = await createEngine(http, schema);
  const rest = { prefix: '/v1', engine, authenticate, responses, acquireStream, limiter };
  await http.register(serveRest, { ...rest, routes: restRoutes, contextOf: contextOf('REST') });
  await http.register(serveRest, { ...rest, routes: openaiRoutes, contextOf: contextOf('OPENAI') });
  await http.register(serveReference, { routes, limiter, publicUrl });
  await http.register(serveConsole, { limiter, sendPage });
  await http.register(serveChatPages, { findVisited, chatPages, limiter });
  await http.register(serveLogos, { findLogo, limiter });
  await http.register(serveVisits, { findVisited, visits, limiter });
  await http.register(serveSession, { keys, consoleSessions, signInCodes, limits, limiter });
  await http.register(serveTelegramWebhook, { webhook: telegramWebhook, limits, limiter });
  const maskError = createErrorMask(http.log);
  const origins = createOrigins(allowedOrigins);
  await http.register(serveMcp, {
    prefix: '/mcp',
    engine,
    contextOf: contextOf('MCP'),
    authenticate,
    limiter,
    connections,
    responses,
    acquireStream,
    origins,
  });
  const graphql = {
    schema,
    contextOf: contextOf('GRAPHQL'),
    maskError,
    origins,
    documents,
    admit: createAdmission({ schema, documents }),
    subscribe: createSubscribe(acquireStream),
  };
  await http.register(serveGraphQL, { prefix: '/graphql', ...graphql, limiter });
  await http.register(serveGraphiQLFiles, { limiter });
  await http.register(serveEventStream, {
    prefix: '/graphql/stream',
    ...graphql,
    authenticateRequest,
    keys,
    connections,
    streams,
  });
  await http.register(serveWebSocket, {
    ...graphql,
    authenticateRequest,
    limiter,
    createContext,
    keys,
    connections,
    streams,
    initMs: connectionLimits?.initMs,
    stallMs: connectionLimits?.stallMs,
    requestMs: connectionLimits?.requestMs,
    bodyMemory,
  });
  await http.register(serveHealth, {
    dependencies: () => ({
      seed: async () => {
        if (!isReady) throw new Error('The database is not seeded yet.');
      },
      database: database.ping,
      ...(redis && { redis: redis.ping }),
    }),
    warnings,
    isClosing: () => isClosing,
  });

  if (metrics && metricsAccess?.token)
    await http.register(serveMetrics, { metrics, token: metricsAccess.token, limiter });
  const metricsHttp = metrics && metricsAccess?.server ? createMetricsServer(metrics) : undefined;
  if (metricsHttp) lifetime.defer(() => metricsHttp.close());

  return {
    http,
    metricsHttp,
    issueSignInCode: signInCodes.issue,

    setReady() {
      isReady = true;
    },

    async drain({ delayMs, runsMs, streamsMs }, pause = delay) {
      isClosing = true;
      if (delayMs > 0) await pause(delayMs);
      const until = performance.now() + runsMs;
      // Only stop listening: the HTTP server's own close() also cuts responses that are not fully sent.
      Server.prototype.close.call(http.server);
      responses.closeConnections();
      await drain(runsMs);
      // Subscribers must read the last events of their runs before the open responses are counted.
      await setImmediate();
      await responses.sent(Math.max(until - performance.now(), SEND_LIMIT_MS));
      await closeEvenly([...responses.streamEnds(stopping()), ...streams.all()], streamsMs, pause);
      await responses.sent(SEND_LIMIT_MS);
    },
  };
}

/** Loads the metrics only if they are read. */
async function openMetrics() {
  const { createMetrics } = await import('../transport/metrics/metrics.ts');
  return createMetrics();
}
