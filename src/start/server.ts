/** The server: reads the settings, opens the database, starts the app, and shuts it down gracefully. */
import { lookup } from 'node:dns/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import closeWithGrace from 'close-with-grace';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { hashApiKey } from '../accounts/key-format.ts';
import { withinTime } from '../async/deadline.ts';
import { createLifetime, type OwnedLifetime } from '../async/lifetime.ts';
import { forgetOwners } from '../coordination/worker-lease.ts';
import { createEnvironmentCipher } from '../deployments/environment.ts';
import { rotateSecretKey } from '../deployments/rotation.ts';
import { StartupError } from '../errors/errors.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { assertSecretKey, openSecretKeys } from '../storage/secret-key.ts';
import { toPrintable } from '../text/characters.ts';
import { type App, createApp } from './app.ts';
import { checkRunning } from './checks.ts';
import { type Config, readConfig } from './config.ts';
import { databaseOf } from './configured-database.ts';
import { modelOf } from './configured-model.ts';
import { readSettings } from './env-file.ts';
import { ERROR_LOGGING, errorForLog } from './error-log.ts';
import { seedWithKey } from './first-key.ts';
import { greeting } from './greeting.ts';
import { createStartupWait } from './startup-wait.ts';
import { TERMINAL_LOG } from './terminal-log.ts';

/** How long the end of a drain and the closing of everything may take. */
const CLOSE_LIMIT_MS = 10_000;
/** How long a shutdown takes at most to close the open streams. */
const STREAMS_MS = 5_000;

async function start(lifetime: OwnedLifetime): Promise<void> {
  // Other users must not read the files that this process creates.
  process.umask(0o077);
  const settings = await readSettings();
  const config = readConfig(settings.values);
  const log = pino(loggerOf(config));
  if (settings.warning) log.warn(settings.warning);
  await using wait = createStartupWait({
    limitMs: config.startupLimitMs,
    listen: (server) => listen(server, config),
    log,
  });
  const database = await wait.open({ name: 'database', product: 'PostgreSQL' }, () =>
    databaseOf(config),
  );
  lifetime.defer(database.close);
  const { prisma } = database;
  const { redisUrl } = config;
  const redis = redisUrl
    ? await wait.open({ name: 'redis', product: 'Redis' }, async () => {
        const { openRedis, redisPrefix } = await import('../coordination/redis.ts');
        return openRedis(redisUrl, await redisPrefix(prisma), config.redisPlace);
      })
    : undefined;
  if (redis) lifetime.defer(redis.close);
  // All earlier owners have exited.
  if (database.isExclusive) await forgetOwners(prisma);
  const secretKeys = await openSecretKeys(prisma, config);
  const [secretKey, ...previousSecretKeys] = secretKeys;
  const cipher = createEnvironmentCipher(secretKey, previousSecretKeys);
  const app = await createApp({
    database,
    redis,
    cipher,
    secretKeys,
    allowedOrigins: config.allowedOrigins,
    checkServer: () => checkRunning(config, settings.warning),
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
    toolCallDays: config.toolCallDays,
    evaluationDays: config.evaluationDays,
    judgeModel: config.judgeModel,
    metrics: config.metrics && {
      token: config.metrics.token,
      server: config.metrics.port !== undefined,
    },
  });
  await wait[Symbol.asyncDispose]();
  const address = await listen(app.http, config);
  const metricsAddress = await listenForMetrics(app, config);
  lifetime.start();
  if (config.previousSecretKeys.length > 0) await rotateSecretKey(prisma, cipher, secretKey, log);
  // Seed only after listening succeeds: a failed start must not create a key that is never shown.
  const key = await seedWithKey(prisma, secretKey, config, !!process.stdout.isTTY);
  // Check again: another process may have seeded the database with a different secret key.
  await assertSecretKey(prisma, secretKeys);
  const drainTimes = {
    delayMs: config.drainDelaySeconds * 1_000,
    runsMs: config.drainSeconds * 1_000,
    streamsMs: STREAMS_MS,
  };
  const drainMs = drainTimes.delayMs + drainTimes.runsMs + STREAMS_MS;
  closeWithGrace({ delay: drainMs + CLOSE_LIMIT_MS, logger: log }, async ({ err }) => {
    log.info(
      { drainSeconds: config.drainSeconds },
      'Shutting down. Active runs have time to finish. Press Ctrl-C again to exit at once.',
    );
    if (err) log.fatal({ err }, 'Shutting down after an unhandled error.');
    await app.drain(drainTimes);
    await lifetime[Symbol.asyncDispose]();
  });
  const code = key.where === 'elsewhere' ? null : await signInCode(app, prisma, key.key);
  app.setReady();
  const { publicUrl, model } = config;
  console.log(greeting({ address, publicUrl, metricsAddress, model: model?.name, key, code }));
  // `parley start` and `parley dev` run this process and wait for this message.
  process.send?.({ address, ...(key.where !== 'elsewhere' && { key: key.key }) });
  setImmediate(releaseMemory);
}

/** Returns the memory that only the start needed to the system. V8 keeps it until a collection as a last resort. */
function releaseMemory(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  setFlagsFromString('--no-expose-gc');
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
  setting = 'PORT',
): Promise<string> {
  try {
    const { address } = await lookup(host, { order: 'ipv4first' });
    return await http.listen({ host: address, port });
  } catch (error) {
    throw cannotListen(error as NodeJS.ErrnoException, { host, port }, setting);
  }
}

/** @returns the address of the metrics, `undefined` without `PARLEY_METRICS_PORT`. */
async function listenForMetrics(
  { metricsHttp }: App,
  { host, metrics }: Config,
): Promise<string | undefined> {
  if (!metricsHttp || metrics?.port === undefined) return undefined;
  const place = { host, port: metrics.port };
  const address = await listen(metricsHttp, place, 'PARLEY_METRICS_PORT');
  return `${address}/metrics`;
}

/** Logs JSON lines, or readable lines on a terminal. Request headers, queries and bodies are never logged. */
function loggerOf({ logLevel }: Config) {
  return {
    level: logLevel,
    redact: ['*.authorization', '*.headers', '*.apiKey', '*.secret'],
    ...ERROR_LOGGING,
    ...(process.stdout.isTTY && { transport: TERMINAL_LOG }),
  };
}

function cannotListen(
  error: NodeJS.ErrnoException,
  { host, port }: Pick<Config, 'host' | 'port'>,
  setting: string,
): StartupError {
  const reason =
    error.code === 'EADDRINUSE'
      ? `${setting}: ${port} is in use on ${host}. Stop the program that listens there, or set another ${setting}.`
      : `HOST, ${setting}: cannot listen on ${host}:${port}: ${error.message}. Set another HOST or ${setting}.`;
  return new StartupError(reason, { cause: error });
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
