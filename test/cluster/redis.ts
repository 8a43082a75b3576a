import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../helpers/free-port.ts';
import { folder, type Program, type Scope, startProgram } from './programs.ts';

export const MASTER = 'parley';
export const SENTINEL_PASSWORD = 'sentinel-password';

/** A Redis server of this run. */
export type RedisServer = Program & {
  port: number;
  url: string;
  /** Sends a command. */
  command(name: string, ...args: string[]): Promise<unknown>;
};

/** Starts Redis without persistence. @param settings of its command line, such as `--maxmemory 2mb`. */
export async function startRedis(
  settings: string[],
  scope: Scope,
  wanted?: number,
): Promise<RedisServer> {
  const port = wanted ?? (await freePort());
  const lasting = ['--save', '', '--appendonly', 'no', '--repl-diskless-sync-delay', '0'];
  const directory = ['--dir', await folder(scope)];
  return start('redis-server', port, [...directory, ...lasting, ...settings], '', scope);
}

/** Starts a Sentinel that promotes a replica a second after its master has died. */
export async function startSentinel(master: RedisServer, scope: Scope): Promise<RedisServer> {
  const configuration = join(await folder(scope), 'sentinel.conf');
  await writeFile(
    configuration,
    `sentinel monitor ${MASTER} 127.0.0.1 ${master.port} 1
sentinel down-after-milliseconds ${MASTER} 1000
sentinel failover-timeout ${MASTER} 10000
requirepass ${SENTINEL_PASSWORD}
`,
    { mode: 0o666 },
  );
  await chmod(configuration, 0o666);
  const port = await freePort();
  return start('redis-server', port, [configuration, '--sentinel'], SENTINEL_PASSWORD, scope);
}

async function start(
  file: string,
  port: number,
  settings: string[],
  password: string,
  scope: Scope,
): Promise<RedisServer> {
  const command = async (name: string, ...args: string[]) => {
    const client = new Redis(port, '127.0.0.1', {
      lazyConnect: true,
      maxRetriesPerRequest: 0,
      password,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      return await client.call(name, ...args);
    } finally {
      client.disconnect();
    }
  };
  const place = ['--port', String(port), '--bind', '127.0.0.1'];
  const args = settings[1] === '--sentinel' ? [...settings, ...place] : [...place, ...settings];
  const isReady = async () => (await command('PING')) === 'PONG';
  const started = await startProgram(file, args, scope, isReady);
  return { ...started, port, url: `redis://127.0.0.1:${port}`, command };
}
