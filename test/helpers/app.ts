import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { expect } from 'vitest';
import { OWNER_SCOPES } from '../../src/accounts/accounts.ts';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { newApiKey } from '../../src/accounts/new-key.ts';
import { createLifetime } from '../../src/async/lifetime.ts';
import { createEnvironmentCipher } from '../../src/deployments/environment.ts';
import type {
  Environment,
  KeyScope,
  Plan,
  PrismaClient,
} from '../../src/generated/prisma/client.ts';
import { createOpenAIModel } from '../../src/model/openai.ts';
import { type App, type AppOptions, createApp, type DrainTimes } from '../../src/start/app.ts';
import { makeId } from '../../src/text/ids.ts';
import { atTheEnd } from './at-the-end.ts';
import { testDatabase } from './database.ts';
import { createTestDeploy } from './deploy.ts';
import { routesOf } from './routes.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** The real app, listening on its own port, with this worker's database. */
export type TestApp = {
  url: string;
  webSocketUrl: string;
  prisma: PrismaClient;
  upstream: Upstream;
  /** Sends a request to the server in this process, without a socket. */
  inject(request: InjectOptions | string): Promise<LightMyRequestResponse>;
  /** The server of the metrics, if the options enable it. It does not listen. */
  readonly metricsHttp: FastifyInstance | undefined;
  /** The routes of both servers, as `METHOD /path`. */
  routes(): string[];
  /** The number of messages that wait for their session's turn. */
  waiting(): Promise<number>;
  /** The number of open WebSockets. */
  openSockets(): number;
  /** The number of unfinished HTTP responses. */
  openResponses(): number;
  /** Runs an operation over HTTP with a given key. */
  graphql(apiKey: string, query: string, variables?: object): Promise<GraphQLAnswer>;
  /** Creates an account for one test. */
  tenant(options?: TenantOptions): Promise<Tenant>;
  /** Issues a code that signs in to the console once. */
  issueSignInCode(keyId: string): Promise<string>;
  /** Shuts the app down, by default at once. */
  close(runsMs?: number, options?: DrainOptions): Promise<void>;
};

/** The other steps of a shutdown, and the clock of its pauses. */
export type DrainOptions = Partial<DrainTimes> & { pause?: (ms: number) => Promise<unknown> };

/** By default, an account's limits are higher than any test needs. */
export type TenantOptions = { plan?: Plan; requestsPerMinute?: number; requestsPerDay?: number };

/** An account with a key that has all scopes except `OPERATOR`, and functions to work in it. */
export type Tenant = {
  accountId: string;
  apiKey: string;
  headers: { authorization: string };
  /** Creates another key. */
  key(options?: {
    scopes?: KeyScope[];
    botIds?: string[];
    expiresAt?: Date;
    revokedAt?: Date;
  }): Promise<string>;
  /** Creates a bot and deploys a definition with these members of its agent; `null`: no deployment. */
  bot(members?: string | null, environment?: Environment): Promise<string>;
  /** Sends a chat over REST, as JSON. */
  chat(botId: string, body: object, headers?: Record<string, string>): Promise<Response>;
  /** Runs an operation over HTTP. */
  graphql(query: string, variables?: object): Promise<GraphQLAnswer>;
};

export type GraphQLAnswer = {
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of its own query
  data: any;
  errors?: { message: string; path?: string[]; extensions: Record<string, unknown> }[];
};

export const TEST_SECRET_KEY = Buffer.alloc(32, 7);

/** Encrypts the variables of the tests' deployments. */
export const testCipher = createEnvironmentCipher(TEST_SECRET_KEY);

/** No test reaches these limits, even on a slow machine. */
const LONG_LIMITS = { requestMs: 240_000, initMs: 240_000, stallMs: 240_000 };

/** Starts the app, and closes it at the end of the test file. */
export async function startApp(options: Partial<AppOptions> = {}): Promise<TestApp> {
  const upstream = await startUpstream();
  const database = await testDatabase();
  const lifetime = createLifetime();
  const app = await createApp({
    lifetime,
    database,
    cipher: testCipher,
    secretKeys: [TEST_SECRET_KEY],
    model: createOpenAIModel({
      baseUrl: upstream.baseUrl,
      defaultModel: 'scripted',
      retryDelayMs: 1,
    }),
    log: pino({ level: 'silent' }),
    trustProxy: [],
    allowedHosts: [],
    ...options,
    connectionLimits: { ...LONG_LIMITS, ...options.connectionLimits },
  });
  const upgraded = new Set<Duplex>();
  app.http.server.on('upgrade', (_request, socket) => {
    upgraded.add(socket);
    socket.once('close', () => upgraded.delete(socket));
  });
  let openResponses = 0;
  app.http.server.on('request', (_request, response) => {
    openResponses += 1;
    response.once('close', () => {
      openResponses -= 1;
    });
  });
  await app.http.listen({ port: 0 });
  lifetime.start();
  app.setReady();
  const { port } = app.http.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  // A closed app is released: the modules of a worker's test files refer to their apps until the worker ends.
  let running: { app: App; lifetime: AsyncDisposable } | undefined = { app, lifetime };
  const current = () => {
    if (!running) throw new Error('The app is closed.');
    return running;
  };
  const end = async (runsMs: number, { pause, ...times }: DrainOptions) => {
    const { app, lifetime } = current();
    await app.drain({ delayMs: 0, runsMs, streamsMs: 0, ...times }, pause);
    await lifetime[Symbol.asyncDispose]();
    await upstream.close();
    running = undefined;
  };
  let closed: Promise<void> | undefined;
  const close = (runsMs = 0, options: DrainOptions = {}) => {
    closed ??= end(runsMs, options);
    return closed;
  };
  atTheEnd(() => close());
  const { prisma } = database;
  return {
    url,
    webSocketUrl: `ws://127.0.0.1:${port}/graphql/ws`,
    prisma,
    upstream,
    inject: (request) => current().app.http.inject(request),
    get metricsHttp() {
      return current().app.metricsHttp;
    },
    routes: () => {
      const { http, metricsHttp } = current().app;
      return [
        ...new Set([http, metricsHttp].flatMap((server) => (server ? routesOf(server) : []))),
      ];
    },
    waiting: () => prisma.turnWaiter.count(),
    openSockets: () => upgraded.size,
    openResponses: () => openResponses,
    issueSignInCode: (keyId) => current().app.issueSignInCode(keyId),
    close,
    graphql: (apiKey, query, variables) => postGraphQL(url, apiKey, query, variables),
    tenant: (tenantOptions) => makeTenant(prisma, url, tenantOptions),
  };
}

/** An agentlang 5 definition with these members, and a prompt if they have none. */
export function agent(members = ''): string {
  const prompt = /^\s*prompt /m.test(members) ? '' : 'prompt "You are a test."';
  return `agentlang 5\nagent "Test" {\n  description "A test."\n  ${prompt}\n  ${members}\n}\n`;
}

async function postGraphQL(url: string, apiKey: string, query: string, variables?: object) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  return (await response.json()) as GraphQLAnswer;
}

async function makeTenant(
  prisma: PrismaClient,
  url: string,
  options: TenantOptions = {},
): Promise<Tenant> {
  const accountId = makeId('acc');
  const { plan = 'ENTERPRISE', requestsPerMinute = 1e6, requestsPerDay = 1e9 } = options;
  const numbers = plan === 'ENTERPRISE' ? { requestsPerMinute, requestsPerDay } : {};
  await prisma.account.create({ data: { id: accountId, name: 'Tenant', plan, ...numbers } });

  const key: Tenant['key'] = async ({
    scopes = OWNER_SCOPES,
    botIds,
    expiresAt,
    revokedAt,
  } = {}) => {
    const secret = makeApiKey();
    const row = newApiKey(accountId, secret, { name: 'Key', scopes, botIds, expiresAt });
    await prisma.apiKey.create({ data: { ...row, revokedAt } });
    return secret;
  };

  const deployNow = createTestDeploy({ prisma, cipher: testCipher });
  const apiKey = await key();
  const headers = { authorization: `Bearer ${apiKey}` };
  const post = (path: string, body: object, more = {}) =>
    fetch(url + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', ...more },
      body: JSON.stringify(body),
    });

  return {
    accountId,
    apiKey,
    headers,
    key,
    async bot(members = '', environment = 'PRODUCTION') {
      const id = makeId('bot');
      await prisma.bot.create({ data: { id, accountId, name: 'Bot' } });
      if (members === null) return id;
      const request = { botId: id, environment, source: agent(members) };
      const { status } = await deployNow({
        action: 'DEPLOY',
        ...request,
        envVars: {},
        unsetEnvVars: [],
      });
      expect(status).toBe('DEPLOYED');
      return id;
    },
    chat: (botId, body, more) => post(`/v1/bots/${botId}/chat`, body, more),
    graphql: (query, variables) => postGraphQL(url, apiKey, query, variables),
  };
}
