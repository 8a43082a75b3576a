import { readFileSync } from 'node:fs';
import { chmod, copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../helpers/free-port.ts';
import { folder, type Program, type Scope, startProgram } from './programs.ts';

export const MASTER = 'parley';
export const SENTINEL_PASSWORD = 'sentinel-password';

/** A certificate of 127.0.0.1 that signs itself, and its key. */
export const CERTIFICATE_FILE = join(import.meta.dirname, '../fixtures/self-signed.pem');

/** A Redis server of this run. */
export type RedisServer = Program & {
  port: number;
  url: string;
  /** Sends a command. */
  command(name: string, ...args: string[]): Promise<unknown>;
};

/** How a server takes connections. */
type Access = { port?: number; password?: string; hasTls?: boolean };

/** Starts Redis without persistence. @param settings of its command line, such as `--maxmemory 2mb`. */
export async function startRedis(
  settings: string[],
  scope: Scope,
  access: Access = {},
): Promise<RedisServer> {
  const lasting = ['--save', '', '--appendonly', 'no', '--repl-diskless-sync-delay', '0'];
  const directory = ['--dir', await folder(scope)];
  return start([], [...directory, ...lasting, ...settings], access, scope);
}

/** Starts a Sentinel that promotes a replica a second after its master has died. */
export async function startSentinel(
  master: RedisServer,
  scope: Scope,
  access: Access = {},
): Promise<RedisServer> {
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
  return start(
    [configuration, '--sentinel'],
    [],
    { ...access, password: SENTINEL_PASSWORD },
    scope,
  );
}

/** @param first of the arguments. */
async function start(
  first: string[],
  settings: string[],
  { port: wanted, password, hasTls = false }: Access,
  scope: Scope,
): Promise<RedisServer> {
  const port = wanted ?? (await freePort());
  const command = async (name: string, ...args: string[]) => {
    const client = new Redis(port, '127.0.0.1', {
      lazyConnect: true,
      maxRetriesPerRequest: 0,
      ...(password && { password }),
      ...(hasTls && { tls: { ca: readFileSync(CERTIFICATE_FILE) } }),
    });
    client.on('error', () => {});
    try {
      await client.connect();
      return await client.call(name, ...args);
    } finally {
      client.disconnect();
    }
  };
  const ports = hasTls ? await tlsSettings(port, scope) : ['--port', String(port)];
  const args = [...first, ...ports, '--bind', '127.0.0.1', ...settings];
  const isReady = async () => (await command('PING')) === 'PONG';
  const started = await startProgram('redis-server', args, scope, isReady);
  const url = `${hasTls ? 'rediss' : 'redis'}://127.0.0.1:${port}`;
  return { ...started, port, url, command };
}

/** Copies the certificate, because the user of the programs may not read the checkout. */
async function tlsSettings(port: number, scope: Scope): Promise<string[]> {
  const file = join(await folder(scope), 'certificate.pem');
  await copyFile(CERTIFICATE_FILE, file);
  await chmod(file, 0o644);
  return [
    ...['--port', '0', '--tls-port', String(port), '--tls-replication', 'yes'],
    ...['--tls-cert-file', file, '--tls-key-file', file, '--tls-ca-cert-file', file],
    ...['--tls-auth-clients', 'no'],
  ];
}
