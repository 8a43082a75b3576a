import { randomBytes } from 'node:crypto';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { type Child, launch, startServer } from '../bench/child.ts';
import { createAccount, createBot, graphqlAt } from '../hostile/tenants.ts';
import { createPostgres, databaseUrl } from './postgres.ts';
import { folder, type Scope } from './programs.ts';

/** The installation whose database every event copies. */
export type Installation = {
  /** The stopped cluster. */
  template: string;
  /** The settings that all processes share. */
  env: Record<string, string>;
  operatorKey: string;
  /** The key of an account without limits, which owns the bot. */
  apiKey: string;
};

export const BOT = 'cluster';

/** The file that `npm start` runs. */
const ENTRY = '../../src/start/main.mjs';

/** Migrates and fills a database. */
export async function install(scope: Scope): Promise<Installation> {
  await using stack = new AsyncDisposableStack();
  const inner = { ...scope, stack };
  const server = await createPostgres(scope);
  const operatorKey = makeApiKey();
  const env = {
    PORT: '0',
    LOG_LEVEL: 'info',
    PARLEY_SECRET_KEY: randomBytes(32).toString('base64'),
    PARLEY_BOOTSTRAP_KEY: operatorKey,
    PARLEY_DATA_DIR: await folder(scope),
  };
  const { url } = await startReplica({ ...env, DATABASE_URL: databaseUrl(server.port) }, inner);
  const apiKey = await createTenant(url, operatorKey);
  await stack.disposeAsync();
  await server.stop();
  return { template: server.directory, env, operatorKey, apiKey };
}

/** Creates an account without limits, with the bot. @returns its key. */
export async function createTenant(url: string, operatorKey: string): Promise<string> {
  const graphql = graphqlAt(url);
  const { apiKey } = await createAccount(graphql, operatorKey, 'Cluster');
  await createBot(graphql, apiKey, BOT, 'prompt "You are brief."');
  return apiKey;
}

/** Starts a process of Parley. */
export function startReplica(env: Record<string, string>, scope: Scope): Promise<Child> {
  return startServer({ file: ENTRY, env, ...scope });
}

/** Starts a process of Parley without waiting for it. */
export function launchReplica(env: Record<string, string>, scope: Scope) {
  return launch({ file: ENTRY, env, ...scope });
}

/** Starts two processes of Parley. */
export function startReplicas(env: Record<string, string>, scope: Scope): Promise<Child[]> {
  return Promise.all([startReplica(env, scope), startReplica(env, scope)]);
}
