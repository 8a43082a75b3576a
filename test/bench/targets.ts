import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { SERVER_ENVIRONMENT } from '../../src/command/local/installation.ts';
import { type Child, runToEnd, startServer } from './child.ts';
import { freshDatabase } from './postgres.ts';
import { CLIENTS } from './reference-model.ts';
import { MODEL } from './workload.ts';

/** A server to measure. */
export type Server = {
  name: string;
  /** The path for chats by `POST`. */
  path: string;
  headers: Record<string, string>;
  /** Starts it with its prepared database. */
  start(stack: AsyncDisposableStack): Promise<Child>;
};

/** A started server. */
export type Target = Pick<Child, 'figures' | 'output'> & {
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
  /** A program that adds to Parley's database before the start, relative to this file. */
  fill?: { file: string; args: string[] };
  signal: AbortSignal;
  /** Stops everything that was started. */
  stack: AsyncDisposableStack;
};

export const BOT_ID = 'bench';

/** The root of this checkout of Parley. */
const ROOT = new URL('../../', import.meta.url);

/**
 * Starts the model server, and prepares all servers to measure.
 *
 * @param against the root of another checkout of Parley to measure in place of Parley on PGlite.
 * @returns the servers, and the name of the reference server.
 */
export async function prepareServers(
  options: TargetOptions,
  against?: URL,
): Promise<{ servers: Server[]; base: string }> {
  const { postgresUrl, redisUrl, signal, stack } = options;
  const { url } = await startServer({ file: 'upstream.ts', signal, stack });
  const modelUrl = `${url}/v1`;
  const databaseUrl = postgresUrl && (await freshDatabase(postgresUrl, stack));
  const references = CLIENTS.map((client) => {
    const name = databaseUrl ? `${client} + pg` : client;
    const args = [client, modelUrl, ...(databaseUrl ? [databaseUrl] : [])];
    const start = (owner: AsyncDisposableStack) =>
      startServer({ file: 'reference.ts', args, signal, stack: owner });
    return { name, path: '/chat', headers: {}, start };
  });
  const base = references[0]?.name ?? '';
  const embedded = () => prepareParley('Parley on PGlite', modelUrl, options);
  if (!postgresUrl) return { servers: [...references, await embedded()], base };

  const name = redisUrl ? 'Parley on PostgreSQL and Redis' : 'Parley on PostgreSQL';
  const onPostgres = async (title: string, root?: URL) =>
    prepareParley(title, modelUrl, options, await freshDatabase(postgresUrl, stack), root);
  const parley = await onPostgres(name);
  const last = against ? await onPostgres(`${name}, before`, against) : await embedded();
  return { servers: [...references, parley, last], base };
}

/** Starts a prepared server, until the stack is disposed of. */
export async function startTarget(
  { name, path, headers, start }: Server,
  stack: AsyncDisposableStack,
): Promise<Target & Child> {
  const child = await start(stack);
  return { ...child, name, headers, chatUrl: `${child.url}${path}` };
}

/**
 * Prepares Parley to start like `npm start`, with a database that contains only the benchmark's data.
 *
 * @param modelUrl without it, the offline model is used.
 */
export async function prepareParley(
  name: string,
  modelUrl: string | undefined,
  { redisUrl, env: more, fill, signal, stack }: Omit<TargetOptions, 'postgresUrl'>,
  databaseUrl?: string,
  root = ROOT,
): Promise<Server & { apiKey: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'parley-bench-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const apiKey = makeApiKey();
  const env = {
    ...SERVER_ENVIRONMENT,
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
  const file = (path: string) => new URL(path, root).href;
  const { nodeArgs, entry } = await startLine(root);
  await runToEnd({ file: file('test/bench/prepare.ts'), args: [BOT_ID], env, signal, stack });
  if (fill) await runToEnd({ ...fill, env, signal, stack });
  return {
    name,
    path: `/v1/bots/${BOT_ID}/chat`,
    headers: { authorization: `Bearer ${apiKey}` },
    apiKey,
    start: (owner) => startServer({ file: file(entry), nodeArgs, env, signal, stack: owner }),
  };
}

/** What `npm start` runs in a checkout, without its file of settings. */
async function startLine(root: URL): Promise<{ nodeArgs: string[]; entry: string }> {
  const { scripts } = JSON.parse(await readFile(new URL('package.json', root), 'utf8'));
  const words: string[] = scripts.start.replace(/^(exec )?node /, '').split(' ');
  const nodeArgs = words.slice(0, -1).filter((word) => !word.startsWith('--env-file'));
  return { nodeArgs, entry: words.at(-1) ?? '' };
}

/** Starts Parley as `prepareParley` prepares it. */
export async function startParley(
  name: string,
  modelUrl: string | undefined,
  options: Omit<TargetOptions, 'postgresUrl'>,
  databaseUrl?: string,
): Promise<Target & Child & { apiKey: string }> {
  const { apiKey, ...server } = await prepareParley(name, modelUrl, options, databaseUrl);
  return { ...(await startTarget(server, options.stack)), apiKey };
}
