import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { type Child, runToEnd, startServer } from './child.ts';
import { freshDatabase } from './postgres.ts';
import { MODEL } from './workload.ts';

/** A measured server. */
export type Target = Pick<Child, 'cpuMs' | 'output'> & {
  name: string;
  /** The URL for chats by `POST`. */
  chatUrl: string;
  headers: Record<string, string>;
};

export type TargetOptions = {
  /** A PostgreSQL server. Without it, only servers that need none are started. */
  postgresUrl: string | undefined;
  /** A Redis server for Parley on PostgreSQL. */
  redisUrl?: string | undefined;
  /** More settings for Parley. */
  env?: Record<string, string>;
  signal: AbortSignal;
  /** Stops everything that was started. */
  stack: AsyncDisposableStack;
};

export const BOT_ID = 'bench';

/**
 * Starts the model server and all measured servers, each as a separate process.
 *
 * @returns the measured servers, and the one that the others are compared with.
 */
export async function startTargets(
  options: TargetOptions,
): Promise<{ targets: Target[]; base: Target }> {
  const { postgresUrl, signal, stack } = options;
  const databaseUrl = postgresUrl && (await freshDatabase(postgresUrl, stack));
  const { url } = await startServer({ file: 'upstream.ts', signal, stack });
  const modelUrl = `${url}/v1`;
  const forward = await startReference('reference: forward', [modelUrl], options);
  const embedded = await startParley('Parley on PGlite', modelUrl, options);
  if (!databaseUrl) return { targets: [forward, embedded], base: forward };

  const base = await startReference('reference: forward + pg', [modelUrl, databaseUrl], options);
  const name = options.redisUrl ? 'Parley on PostgreSQL and Redis' : 'Parley on PostgreSQL';
  const parley = await startParley(name, modelUrl, options, databaseUrl);
  return { targets: [forward, base, parley, embedded], base };
}

async function startReference(
  name: string,
  args: string[],
  { signal, stack }: TargetOptions,
): Promise<Target> {
  const { url, ...child } = await startServer({ file: 'reference.ts', args, signal, stack });
  return { ...child, name, chatUrl: `${url}/chat`, headers: {} };
}

/**
 * Starts Parley like `npm start`, with a database that contains only the benchmark's data.
 *
 * @param modelUrl without it, the offline model is used.
 */
export async function startParley(
  name: string,
  modelUrl: string | undefined,
  { redisUrl, env: more, signal, stack }: Omit<TargetOptions, 'postgresUrl'>,
  databaseUrl?: string,
): Promise<Target & Child & { apiKey: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'parley-bench-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const apiKey = makeApiKey();
  const env = {
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'warn',
    ...(modelUrl && { OPENAI_BASE_URL: modelUrl, OPENAI_MODEL: MODEL }),
    PARLEY_DATA_DIR: directory,
    PARLEY_SECRET_KEY: randomBytes(32).toString('base64'),
    PARLEY_BOOTSTRAP_KEY: apiKey,
    ...(databaseUrl && { DATABASE_URL: databaseUrl }),
    ...(databaseUrl && redisUrl && { REDIS_URL: redisUrl }),
    ...more,
  };
  await runToEnd({ file: 'prepare.ts', args: [BOT_ID], env, signal, stack });
  const child = await startServer({ file: '../../src/server.ts', env, signal, stack });
  return {
    ...child,
    name,
    apiKey,
    chatUrl: `${child.url}/v1/bots/${BOT_ID}/chat`,
    headers: { authorization: `Bearer ${apiKey}` },
  };
}
