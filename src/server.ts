/** `npm start`: settings, database, application, listening, and a graceful end. */
import { lookup } from 'node:dns/promises';
import closeWithGrace from 'close-with-grace';
import { DEMO_BOT_ID, seed } from '../prisma/seed.ts';
import { type App, createApp } from './app.ts';
import { type Config, readConfig } from './config.ts';
import { openRedis, redisPrefix } from './coordination/redis.ts';
import { forgetOwners } from './coordination/worker-lease.ts';
import { createEnvironmentCipher } from './deployments/environment.ts';
import { rotateSecretKey } from './deployments/rotation.ts';
import { ERROR_LOGGING, errorForLog } from './error-log.ts';
import { StartupError } from './errors.ts';
import type { Model } from './model/model.ts';
import { createOfflineModel } from './model/offline.ts';
import { createOpenAIModel } from './model/openai.ts';
import { openEmbedded, openPostgres } from './storage/database.ts';
import { assertSecretKey, generatedSecretKey, secretKeyCheck } from './storage/secret-key.ts';

/** Milliseconds between two words of the offline model: streaming that a person can see. */
const OFFLINE_PACE_MS = 20;
/** Beyond the limit that running answers have, so that what was cut short is still stored. */
const CLOSE_LIMIT_MS = 30_000;

async function start(): Promise<void> {
  // Other users can read no file that this process makes.
  process.umask(0o077);
  const config = readConfig();
  const database = config.databaseUrl
    ? await openPostgres(config.databaseUrl)
    : await openEmbedded(config.dataDirectory);
  const { prisma } = database;
  const redis = config.redisUrl
    ? await openRedis(config.redisUrl, await redisPrefix(prisma))
    : undefined;
  // The embedded database is this process's alone: whoever worked on it before is gone.
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
    persistedDocuments: config.persistedDocuments,
    model: modelOf(config),
    logger: loggerOf(config),
    trustProxy: config.trustProxy,
    allowedHosts: config.allowedHosts,
    otlpEndpoint: config.otlpEndpoint,
    retentionDays: config.retentionDays,
  });
  const address = await listen(app, config).catch((error) => {
    throw cannotListen(error, config);
  });
  if (config.previousSecretKeys.length > 0)
    await rotateSecretKey(prisma, cipher, secretKey, app.http.log);
  // Only now, so that a start that fails sets nothing up with a key that nobody has seen.
  const newKey = await seed(prisma, secretKeyCheck(secretKey), config.bootstrapKey);
  // Once more, for the one of two first starts that came second.
  await assertSecretKey(prisma, [secretKey, ...config.previousSecretKeys]);
  closeWithGrace({ delay: CLOSE_LIMIT_MS, logger: app.http.log }, async ({ err }) => {
    app.http.log.info('Stopping: running answers have 25 seconds. Ctrl-C again ends at once.');
    if (err) app.http.log.fatal({ err }, 'Parley stops: it met an error that nothing handles.');
    await app.close();
    await redis?.close();
    await database.close();
  });
  app.begin();
  greet(address, newKey, config);
}

/**
 * Listens on one address, also where the host has several: for each of the others Fastify would make a server of its
 * own, whose answers nobody waits for at the end.
 */
async function listen({ http }: App, { host, port }: Config): Promise<string> {
  const { address } = await lookup(host, { order: 'ipv4first' });
  return http.listen({ host: address, port });
}

function modelOf({ model }: Config): Model {
  if (model === undefined) return createOfflineModel({ pace: OFFLINE_PACE_MS });
  return createOpenAIModel({ ...model, defaultModel: model.name });
}

/** Lines of JSON, or readable ones on a terminal. No header, query or body of a request is logged. */
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

function cannotListen(error: NodeJS.ErrnoException, { host, port }: Config): StartupError {
  const reason =
    error.code === 'EADDRINUSE'
      ? `PORT: ${port} is in use on ${host}. Stop the program that listens there, or set another PORT.`
      : `HOST, PORT: cannot listen on ${host}:${port}: ${error.message}. Set others.`;
  return new StartupError(reason, { cause: error });
}

/** Tells the person at the terminal where to go from here; the key only when it is new. */
function greet(address: string, newKey: string | null, config: Config): void {
  const shownKey = newKey !== config.bootstrapKey ? newKey : null;
  const keyLine = shownKey
    ? `${shownKey}   (shown this once: keep it)`
    : newKey
      ? 'the one in PARLEY_BOOTSTRAP_KEY'
      : 'the one that the first start made';
  console.log(`
  Parley is listening on ${address}
  Model:       ${config.model?.name ?? 'offline (set OPENAI_API_KEY for a real one)'}
  Playground:  ${address}/graphql
  API key:     ${keyLine}
  Try:         curl ${address}/v1/bots/${DEMO_BOT_ID}/chat -H "Authorization: Bearer ${shownKey ?? '$API_KEY'}" -H "Content-Type: application/json" -H "X-Session-ID: user-1" -d '{"message": "Hello!"}'
`);
}

try {
  await start();
} catch (error) {
  if (error instanceof StartupError)
    console.error(error.message.replaceAll(/^/gm, 'Parley cannot start: '));
  else console.error('Parley cannot start:', errorForLog(error));
  process.exit(1);
}
