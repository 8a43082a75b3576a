import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import type { Target } from '../server/target.ts';
import { startServer } from './server-process.ts';

/** The bot that each new database has. */
const BOT = 'demo';
/** Settings that would lead to data which exists. An empty value is no value. */
const OWN_DATA = ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'REDIS_URL', 'REDIS_MASTER_NAME'].flatMap(
  (name) => [
    [name, ''],
    [`${name}_FILE`, ''],
  ],
);

/**
 * Starts a server with an empty database on a free port, and stops it after the work. It has the other settings of the
 * environment and of `.env`, such as the model server.
 */
export async function withLocalServer<Result>(
  context: Context,
  work: (target: Target & { bot: string }) => Promise<Result>,
): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const server = startServer(context, {
    ...Object.fromEntries(OWN_DATA),
    HOST: '127.0.0.1',
    PORT: '0',
    PARLEY_DATA_DIR: directory,
  });
  try {
    const { url, apiKey } = await server.ready;
    if (apiKey === undefined) throw new Refusal('The server that was started has no key.');
    return await work({ url, apiKey, bot: BOT, profile: undefined });
  } finally {
    server.stop();
    await server.ended.catch(() => {});
    await rm(directory, { recursive: true, force: true });
  }
}
