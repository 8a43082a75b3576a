/** The server: reads the settings, opens the database, starts the app, and shuts it down gracefully. */
import { lookup } from 'node:dns/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import closeWithGrace from 'close-with-grace';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { DEMO_BOT_ID, seed } from '../prisma/seed.ts';
import { hashApiKey } from './accounts/key-format.ts';
import { type App, createApp } from './app.ts';
import { type Config, readConfig } from './config.ts';
import { openRedis, redisPrefix } from './coordination/redis.ts';
import { forgetOwners } from './coordination/worker-lease.ts';
import { withinTime } from './deadline.ts';
import { createEnvironmentCipher } from './deployments/environment.ts';
import { rotateSecretKey } from './deployments/rotation.ts';
import { readSettings } from './env-file.ts';
import { ERROR_LOGGING, errorForLog } from './error-log.ts';
import { StartupError } from './errors.ts';
import type { PrismaClient } from './generated/prisma/client.ts';
import { createLifetime, type OwnedLifetime } from './lifetime.ts';
import type { Model } from './model/model.ts';
import { createOfflineModel } from './model/offline.ts';
import { createOpenAIModel } from './model/openai.ts';
import { type Database, openPostgres } from './storage/database.ts';
import { assertSecretKey, generatedSecretKey, secretKeyCheck } from './storage/secret-key.ts';
import { toPrintable } from './text.ts';

/** Milliseconds between two words of the offline model, slow enough for a person to see the streaming. */
const OFFLINE_PACE_MS = 20;
/** Longer than the app's drain limit, so that aborted runs are still stored. */
const CLOSE_LIMIT_MS = 30_000;

async function start(lifetime: OwnedLifetime): Promise<void> {
  // Other users must not read the files that this process creates.
  process.umask(0o077);
  const settings = await readSettings();
  const config = readConfig(settings.values);
  const log = pino(loggerOf(config));
  if (settings.warning) log.warn(settings.warning);
  const database = await openDatabase(config);
  lifetime.defer(database.close);
  const { prisma } = database;
  const redis = config.redisUrl
    ? await openRedis(config.redisUrl, await redisPrefix(prisma))
    : undefined;
  if (redis) lifetime.defer(redis.close);
  // Only one process uses the embedded database, so all earlier owners have exited.
  if (!config.databaseUrl) await forgetOwners(prisma);
  const secretKey = config.secretKey ?? (await generatedSecretKey(config.dataDirectory));
  await assertSecretKey(prisma, [secretKey, ...config.previousSecretKeys]);
  const secretKeys = [secretKey, ...config.previousSecretKeys];
  const cipher = createEnvironmentCipher(secretKey, config.previousSecretKeys);
  const app = await createApp({
    database,
    redis,
    cipher,
    secretKeys,
    allowedOrigins: config.allowedOrigins,
    publicUrl: config.publicUrl,
    telegram: { apiRoot: config.telegramApiRoot },
    persistedDocuments: config.persistedDocuments,
    model: modelOf(config),
    log,
    lifetime,
    trustProxy: config.trustProxy,
    allowedHosts: config.allowedHosts,
    otlpEndpoint: config.otlpEndpoint,
    resourceAttributes: config.resourceAttributes,
    retentionDays: config.retentionDays,
    promptDays: config.promptDays,
    metrics: config.metrics && {
      token: config.metrics.token,
      server: config.metrics.port !== undefined,
    },
  });
  const address = await listen(app.http, config).catch((error) => {
    throw cannotListen(error, config);
  });
  const metricsAddress = await listenForMetrics(app, config);
  lifetime.start();
  if (config.previousSecretKeys.length > 0) await rotateSecretKey(prisma, cipher, secretKey, log);
  // Seed only after listening succeeds: a failed start must not create a key that is never shown.
  const newKey = await seed(prisma, secretKeyCheck(secretKey), config.bootstrapKey);
  // Check again: another process may have seeded the database with a different secret key.
  await assertSecretKey(prisma, [secretKey, ...config.previousSecretKeys]);
  closeWithGrace({ delay: CLOSE_LIMIT_MS, logger: log }, async ({ err }) => {
    log.info(
      'Shutting down. Active runs have 25 seconds to finish. Press Ctrl-C again to exit at once.',
    );
    if (err) log.fatal({ err }, 'Shutting down after an unhandled error.');
    await app.drain();
    await lifetime[Symbol.asyncDispose]();
  });
  const code = newKey && (await signInCode(app, prisma, newKey));
  app.setReady();
  greet({ address, metricsAddress }, { newKey, code }, config);
  // `parley start` and `parley dev` run this process and wait for this message.
  process.send?.({ address, ...(newKey && { key: newKey }) });
  setImmediate(releaseMemory);
}

/** Returns the memory that only the start needed to the system. V8 keeps it until a collection as a last resort. */
function releaseMemory(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  setFlagsFromString('--no-expose-gc');
}

/** Loads the embedded database only if it is used. */
async function openDatabase({ databaseUrl, dataDirectory }: Config): Promise<Database> {
  if (databaseUrl) return openPostgres(databaseUrl);
  const { openEmbedded } = await import('./storage/embedded.ts');
  return openEmbedded(dataDirectory);
}

/** Issues the code of the first start's sign-in link. */
async function signInCode(app: App, prisma: PrismaClient, key: string): Promise<string> {
  const { id } = await prisma.apiKey.findUniqueOrThrow({ where: { hash: hashApiKey(key) } });
  return app.issueSignInCode(id);
}

/**
 * Listens on one address, even if the host name resolves to several. Fastify would create a secondary server for each
 * of the others, and the shutdown does not drain their responses.
 */
async function listen(
  http: FastifyInstance,
  { host, port }: Pick<Config, 'host' | 'port'>,
): Promise<string> {
  const { address } = await lookup(host, { order: 'ipv4first' });
  return http.listen({ host: address, port });
}

/** @returns the address of the metrics, `undefined` without `PARLEY_METRICS_PORT`. */
async function listenForMetrics(
  { metricsHttp }: App,
  { host, metrics }: Config,
): Promise<string | undefined> {
  if (!metricsHttp || metrics?.port === undefined) return undefined;
  const place = { host, port: metrics.port };
  const address = await listen(metricsHttp, place).catch((error) => {
    throw cannotListen(error, place, 'PARLEY_METRICS_PORT');
  });
  return `${address}/metrics`;
}

function modelOf({ model }: Config): Model {
  if (model === undefined) return createOfflineModel({ pace: OFFLINE_PACE_MS });
  return createOpenAIModel({ ...model, defaultModel: model.name });
}

/** Logs JSON lines, or readable lines on a terminal. Request headers, queries and bodies are never logged. */
function loggerOf({ logLevel }: Config) {
  return {
    level: logLevel,
    redact: ['*.authorization', '*.headers', '*.apiKey', '*.secret'],
    ...ERROR_LOGGING,
    ...(process.stdout.isTTY && {
      transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname' } },
    }),
  };
}

function cannotListen(
  error: NodeJS.ErrnoException,
  { host, port }: Pick<Config, 'host' | 'port'>,
  setting = 'PORT',
): StartupError {
  const reason =
    error.code === 'EADDRINUSE'
      ? `${setting}: ${port} is in use on ${host}. Stop the program that listens there, or set another ${setting}.`
      : `HOST, ${setting}: cannot listen on ${host}:${port}: ${error.message}. Set another HOST or ${setting}.`;
  return new StartupError(reason, { cause: error });
}

/**
 * Prints the first steps to the terminal. It shows the API key only if this start generated it, and a sign-in link only
 * if this start set up the database.
 */
function greet(
  { address, metricsAddress }: { address: string; metricsAddress: string | undefined },
  { newKey, code }: { newKey: string | null; code: string | null },
  config: Config,
): void {
  const shownKey = newKey !== config.bootstrapKey ? newKey : null;
  const keyLine = shownKey
    ? `${shownKey}   (shown only once; store it now)`
    : newKey
      ? 'the value of PARLEY_BOOTSTRAP_KEY'
      : 'created by the first start';
  const metrics = metricsAddress ? `\n  Metrics:     ${metricsAddress}` : '';
  console.log(`
  Parley is listening on ${address}
  Model:       ${toPrintable(config.model?.name ?? 'offline (set OPENAI_API_KEY to use a real model)')}
  Console:     ${code ? `${address}/sign-in#code=${code}   (signs in once, within 15 minutes)` : address}
  GraphiQL:    ${address}/graphql
  Reference:   ${address}/docs${metrics}
  API key:     ${keyLine}
  Try:         curl ${address}/v1/bots/${DEMO_BOT_ID}/chat -H "Authorization: Bearer ${shownKey ?? '$API_KEY'}" -H "Content-Type: application/json" -H "X-Session-ID: user-1" -d '{"message": "Hello!"}'
`);
}

/** Closes the resources of a failed start. */
async function abandon(lifetime: OwnedLifetime): Promise<void> {
  await withinTime(CLOSE_LIMIT_MS, lifetime[Symbol.asyncDispose]()).catch((error: unknown) =>
    console.error('Parley could not close everything:', errorForLog(error)),
  );
}

const lifetime = createLifetime();
try {
  await start(lifetime);
} catch (error) {
  if (error instanceof StartupError)
    // A message may quote a setting, and the file of settings may be anybody's.
    console.error(toPrintable(error.message).replaceAll(/^/gm, 'Parley cannot start: '));
  else console.error('Parley cannot start:', errorForLog(error));
  await abandon(lifetime);
  process.exit(1);
}
