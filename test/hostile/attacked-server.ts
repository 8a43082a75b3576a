import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { type Child, startServer } from '../bench/child.ts';
import { freshDatabase } from '../bench/postgres.ts';
import { startParley, type Target } from '../bench/targets.ts';
import type { HostileAccount } from './attack.ts';
import { type StallWatch, watchStalls } from './stalls.ts';
import { createAccount, createBot, createHostileAccounts, graphqlAt } from './tenants.ts';

/** A server with an honest tenant, hostile ones, and an account whose every text has its longest length. */
export type AttackedServer = {
  parley: Child;
  honest: Target & { pid: number };
  hostileUrl: string;
  accounts: HostileAccount[];
  /** The key of the heavy account. */
  heavyKey: string;
  memory: MemoryWatch;
  stalls: StallWatch;
};

/** The resident set of the server's process, in MiB. */
export type MemoryWatch = {
  now(): Promise<number>;
  /** Begins to measure. @returns a function that returns the largest since then. */
  measure(): () => number;
};

const HEAP_MEBIBYTES = 512;
const MEMORY_PACE_MS = 25;

/**
 * Starts a server with a heap of 512 MB.
 *
 * @param services PostgreSQL's and Redis' URLs; without them the server uses PGlite.
 */
export async function startAttackedServer(
  services: { postgresUrl?: string | undefined; redisUrl?: string | undefined },
  { signal, stack }: { signal: AbortSignal; stack: AsyncDisposableStack },
): Promise<AttackedServer> {
  const { postgresUrl, redisUrl } = services;
  const databaseUrl = postgresUrl && (await freshDatabase(postgresUrl, stack));
  const model = await startServer({ file: 'upstream.ts', signal, stack });
  const hostile = await startServer({ file: '../hostile/upstream.ts', signal, stack });
  const env = {
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MEBIBYTES}`,
    PARLEY_ALLOWED_HOSTS: new URL(hostile.url).host,
    LOG_LEVEL: 'error',
  };
  const heavyKey = makeApiKey();
  const fill = { file: '../hostile/documents/prepare.ts', args: [heavyKey] };
  const options = { redisUrl, signal, stack, env, fill };
  const parley = await startParley('Parley', `${model.url}/v1`, options, databaseUrl);
  const graphql = graphqlAt(parley.url);
  const { apiKey } = await createAccount(graphql, parley.apiKey, 'Honest');
  await createBot(graphql, apiKey, 'honest', 'prompt "You are honest."');
  const accounts = await createHostileAccounts(graphql, parley.apiKey, hostile.url);
  return {
    parley,
    honest: {
      ...parley,
      chatUrl: `${parley.url}/v1/bots/honest/chat`,
      headers: { authorization: `Bearer ${apiKey}` },
    },
    hostileUrl: hostile.url,
    accounts,
    heavyKey,
    memory: watchMemory(parley.pid, stack),
    stalls: await watchStalls(parley, { signal, stack }),
  };
}

function watchMemory(pid: number, stack: AsyncDisposableStack): MemoryWatch {
  const open = new Set<{ largest: number }>();
  const now = async () => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
  };
  const over = new AbortController();
  stack.defer(() => over.abort());
  const watch = async () => {
    while (!over.signal.aborted) {
      const size = await now();
      for (const measure of open) measure.largest = Math.max(measure.largest, size);
      await setTimeout(MEMORY_PACE_MS);
    }
  };
  void watch();
  return {
    now,
    measure() {
      const measure = { largest: 0 };
      open.add(measure);
      return () => {
        open.delete(measure);
        return measure.largest;
      };
    },
  };
}
