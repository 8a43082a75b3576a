import { Server } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type DomainOptions, startDomains } from './domains.ts';
import { GatewayError } from './errors.ts';
import { stopping } from './runs/active-runs.ts';
import { createContextFactory } from './schema/context.ts';
import { schema } from './schema/index.ts';
import { createAuthenticate } from './transport/authenticate.ts';
import type { ContextOf } from './transport/context-of.ts';
import { createEngine } from './transport/engine.ts';
import { createErrorMask } from './transport/error-mask.ts';
import { createAdmission } from './transport/graphql/admission.ts';
import { createDocuments, type Manifest } from './transport/graphql/documents.ts';
import { serveEventStream } from './transport/graphql/event-stream.ts';
import { serveGraphiQLFiles } from './transport/graphql/graphiql/serve.ts';
import { createOrigins } from './transport/graphql/origins.ts';
import { createSubscribe } from './transport/graphql/subscriptions.ts';
import { serveWebSocket } from './transport/graphql/websocket.ts';
import { serveGraphQL } from './transport/graphql/yoga.ts';
import { serveHealth } from './transport/health.ts';
import { clientSignal, createHttp, type HttpOptions } from './transport/http.ts';
import { createLimiter, quotaHeaders } from './transport/rate-limit.ts';
import { createStreamLimit } from './transport/reading.ts';
import { serveReference } from './transport/rest/reference/serve.ts';
import { serveRest } from './transport/rest/rest.ts';

export type AppOptions = HttpOptions &
  DomainOptions & {
    /** Origins whose pages may call `/graphql*`; none by default. */
    allowedOrigins?: string[];
    /** Where clients reach this server, for the examples of the reference; by default the reader's own address of it. */
    publicUrl?: string | undefined;
    /** Documents that clients may ask for by id beside Parley's own, and whether no others run. */
    persistedDocuments?: { manifest?: Manifest | undefined; only?: boolean };
  };

export type App = {
  /** The server, which does not listen yet. */
  http: FastifyInstance;
  /**
   * Starts the runs of the queue and makes `/readyz` answer 200. Call it when the database is seeded and nothing of the
   * start can fail any more.
   */
  begin(): void;
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
  allowedOrigins = [],
  persistedDocuments,
  publicUrl,
  ...options
}: AppOptions): Promise<App> {
  const documents = createDocuments(schema, persistedDocuments);
  const { app: http, answers, connections } = createHttp({ ...options, limiter: () => limiter });
  const { database, redis } = options;
  redis?.logTo(http.log);
  const { domains, sessionTokens, limits, begin, drain, close } = await startDomains({
    ...options,
    log: http.log,
  });
  const { keys } = domains;
  const createContext = createContextFactory(domains);
  const authenticate = createAuthenticate({ keys, sessionTokens, limits });
  const limiter = createLimiter({ authenticate, limits });
  const contextOf: ContextOf = async (request, reply, signal = clientSignal(reply)) => {
    const admission = limiter.admitted(request);
    const authentication =
      admission?.authentication ?? (await authenticate(request.headers.authorization, request.ip));
    return createContext({
      authentication,
      bot: admission?.bot,
      signal,
      setHeader: (name, value) => reply.header(name, value),
      traceparent: request.headers.traceparent,
      take: async (cost) => {
        const quota = await limiter.take(authentication, request.ip, cost);
        reply.headers(quotaHeaders(quota));
        if (quota.allowed && !(authentication instanceof GatewayError)) {
          connections.trust(request.raw.socket);
        }
        return quota;
      },
    });
  };

  let begun = false;
  let closing = false;
  const acquireStream = createStreamLimit();
  const engine = await createEngine(http, schema);
  await http.register(serveRest, {
    prefix: '/v1',
    engine,
    contextOf,
    authenticate,
    answers,
    acquireStream,
  });
  await http.register(serveReference, { limiter, publicUrl });
  const maskError = createErrorMask(http.log);
  const origins = createOrigins(allowedOrigins);
  const graphql = {
    schema,
    maskError,
    origins,
    documents,
    admit: createAdmission({ schema, documents }),
    subscribe: createSubscribe(acquireStream),
  };
  await http.register(serveGraphQL, { ...graphql, contextOf, limiter });
  await http.register(serveGraphiQLFiles, { limiter });
  await http.register(serveEventStream, { ...graphql, contextOf, authenticate, keys, connections });
  await http.register(serveWebSocket, {
    ...graphql,
    authenticate,
    limiter,
    createContext,
    keys,
    connections,
    stallMs: options.connectionLimits?.stallMs,
  });
  await http.register(serveHealth, {
    dependencies: {
      seed: async () => {
        if (!begun) throw new Error('The start has not seeded the database yet.');
      },
      database: database.ping,
      ...(redis && { redis: redis.ping }),
    },
    isClosing: () => closing,
  });

  return {
    http,
    begin() {
      begun = true;
      begin();
    },
    async close(drainLimitMs = DRAIN_LIMIT_MS) {
      closing = true;
      const deadline = performance.now() + drainLimitMs;
      // Only stops listening: an HTTP server's own close() also cuts answers that have not all left yet.
      Server.prototype.close.call(http.server);
      answers.closeConnections();
      await drain(drainLimitMs);
      // Those who read the last events of a run take their turn before the answers are counted.
      await setImmediate();
      await answers.sent(Math.max(deadline - performance.now(), SEND_LIMIT_MS));
      answers.endStreams(stopping());
      await answers.sent(SEND_LIMIT_MS);
      await http.close();
      await close();
    },
  };
}
