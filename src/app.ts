import { Server } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { createAccounts } from './accounts/accounts.ts';
import { createKeys } from './accounts/keys.ts';
import { createAgent } from './agent/agent.ts';
import { createChat } from './agent/chat.ts';
import { createEgress } from './agent/egress.ts';
import { createBots } from './bots/bots.ts';
import { createActiveDeployments } from './deployments/active.ts';
import { createDeployments } from './deployments/deployments.ts';
import type { EnvironmentCipher } from './deployments/environment.ts';
import type { Model } from './model/model.ts';
import { createModels } from './model/models.ts';
import { createLiveRuns } from './runs/live.ts';
import { createRuns } from './runs/runs.ts';
import { createContextFactory } from './schema/context.ts';
import { schema } from './schema/index.ts';
import { createHistory } from './sessions/history.ts';
import { createMemory } from './sessions/memory.ts';
import { createSessions } from './sessions/sessions.ts';
import { createTurns, type Turns } from './sessions/turns.ts';
import type { Database } from './storage/database.ts';
import { createAuthenticate } from './transport/authenticate.ts';
import type { ContextOf } from './transport/context-of.ts';
import { createEngine } from './transport/engine.ts';
import { createErrorMask } from './transport/error-mask.ts';
import { serveEventStream } from './transport/event-stream.ts';
import { serveGraphQL } from './transport/graphql.ts';
import { serveHealth } from './transport/health.ts';
import { clientSignal, createHttp, type HttpOptions } from './transport/http.ts';
import { serveRest } from './transport/rest.ts';
import { serveWebSocket } from './transport/websocket.ts';

export type AppOptions = HttpOptions & {
  /** Open, and closed by whoever opened it. */
  database: Database;
  cipher: EnvironmentCipher;
  model: Model;
  /** `host:port` of private hosts that tools may call. */
  allowedHosts: string[];
  /** How sessions take turns; within this process by default. */
  turns?: Turns;
};

export type App = {
  /** The server, which does not listen yet. */
  http: FastifyInstance;
  /**
   * Ends with nothing half done: takes no new connections, waits for the runs at work, stops those that still
   * are after the limit, and closes.
   */
  close(drainLimitMs?: number): Promise<void>;
};

const DRAIN_LIMIT_MS = 25_000;
/** How long an answer that is ready may take to leave, however late it is. */
const SEND_LIMIT_MS = 1_000;

/** Puts the whole of Parley together, on a database and a model that are there. It never listens. */
export async function createApp({
  database,
  cipher,
  model,
  allowedHosts,
  turns = createTurns(),
  ...httpOptions
}: AppOptions): Promise<App> {
  const { prisma } = database;
  const { app: http, answers } = createHttp(httpOptions);
  const keys = createKeys({ prisma, log: http.log });
  const runs = createRuns({ prisma });
  const liveRuns = createLiveRuns();
  const history = createHistory({ prisma });
  const memory = createMemory({ prisma });
  const egress = createEgress({ allowedHosts });
  const models = createModels({ standard: model, fetch: egress.fetch });
  const createContext = createContextFactory({
    prisma,
    keys,
    accounts: createAccounts({ prisma }),
    bots: createBots({ prisma }),
    sessions: createSessions({ prisma, history, memory, turns }),
    deployments: createDeployments({ prisma, cipher }),
    chat: createChat({
      activeDeployments: createActiveDeployments({ prisma, cipher }),
      history,
      agent: createAgent({ history, memory, models, egress, log: http.log }),
      turns,
      runs,
      liveRuns,
      log: http.log,
    }),
  });
  const authenticate = createAuthenticate({ keys });
  const contextOf: ContextOf = async (request, reply, signal = clientSignal(reply)) =>
    createContext({
      authentication: await authenticate(request.headers.authorization),
      signal,
      setHeader: (name, value) => reply.header(name, value),
    });

  let closing = false;
  const engine = await createEngine(http, schema);
  await http.register(serveRest, { prefix: '/v1', engine, contextOf });
  const maskError = createErrorMask(http.log);
  await http.register(serveGraphQL, { schema, contextOf, maskError });
  await http.register(serveEventStream, { schema, contextOf, authenticate, maskError });
  await http.register(serveWebSocket, { schema, authenticate, createContext, maskError });
  await http.register(serveHealth, {
    dependencies: { database: database.ping },
    isClosing: () => closing,
  });

  return {
    http,
    async close(drainLimitMs = DRAIN_LIMIT_MS) {
      closing = true;
      const deadline = performance.now() + drainLimitMs;
      // Only stops listening: an HTTP server's own close() also cuts answers that have not all left yet.
      Server.prototype.close.call(http.server);
      await liveRuns.drain(drainLimitMs);
      // Those who read the last events of a run take their turn before the answers are counted.
      await setImmediate();
      await answers.sent(Math.max(deadline - performance.now(), SEND_LIMIT_MS));
      await http.close();
      await egress.close();
    },
  };
}
