import type { Model } from '../model/model.ts';
import type { Database } from '../storage/database.ts';
import { VERSION } from '../text/version.ts';
import type { Redis } from './redis.ts';

/** A server that this process depends on, as one round trip found it. */
export type Dependency = {
  /** The product, such as `PostgreSQL`. */
  name: string;
  reachable: boolean;
  /** Duration of the round trip, in milliseconds; null if there was no answer. */
  latencyMs: number | null;
};

/** The result of a check, as `parley doctor` prints it. */
export type ServerCheck = {
  name: string;
  status: 'ok' | 'warning' | 'failed';
  message: string;
  /** What to do. */
  advice?: string | undefined;
};

/** What this process is and depends on. */
export type ServerState = {
  version: string;
  startedAt: Date;
  /** The model that answers for definitions that name none. */
  model: string;
  /** Origins whose pages may call `/graphql*`. */
  allowedOrigins: readonly string[];
  /** Takes at most 2 seconds, and does not reject. */
  checkDatabase(): Promise<Dependency>;
  /** As `checkDatabase`; null without Redis. */
  checkRedis(): Promise<Dependency | null>;
  /** Checks what `parley doctor` checks. It takes at most 5 seconds, and does not reject. */
  checkAll(): Promise<ServerCheck[]>;
};

export function createServerState({
  database,
  redis,
  model,
  allowedOrigins,
  checkAll = async () => [],
}: {
  database: Pick<Database, 'name' | 'ping'>;
  redis?: Pick<Redis, 'ping'> | undefined;
  model: Pick<Model, 'nameFor'>;
  allowedOrigins: readonly string[];
  /** Without it, there are no checks. */
  checkAll?: (() => Promise<ServerCheck[]>) | undefined;
}): ServerState {
  return {
    version: VERSION,
    startedAt: new Date(performance.timeOrigin),
    model: model.nameFor(),
    allowedOrigins,
    checkDatabase: () => check(database.name, database.ping),
    checkRedis: async () => (redis ? check('Redis', redis.ping) : null),
    checkAll,
  };
}

async function check(name: string, ping: () => Promise<void>): Promise<Dependency> {
  const startedAt = performance.now();
  return ping().then(
    () => ({ name, reachable: true, latencyMs: performance.now() - startedAt }),
    () => ({ name, reachable: false, latencyMs: null }),
  );
}
