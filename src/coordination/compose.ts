import type { Lifetime } from '../async/lifetime.ts';
import type { Log } from '../observability/log.ts';
import type { Database } from '../storage/database.ts';
import { createMemoryVersions, createSharedVersions, type Versions } from './cache-versions.ts';
import {
  createMemoryCounter,
  createSharedCounter,
  type FixedWindowCounter,
} from './fixed-window-counter.ts';
import { createLooks, type Looks } from './looks.ts';
import { createOtherProcesses } from './other-processes.ts';
import { createPubSub, createRedisPubSub, type PubSub } from './pubsub.ts';
import type { Redis } from './redis.ts';
import { createOwner, type Owner } from './worker-lease.ts';

/** The state that the replicas share. */
export type Coordination = {
  pubsub: PubSub;
  versions: Versions;
  /** Each counter has its own windows. */
  createCounter(): FixedWindowCounter;
};

type Parts = {
  /** Shared by all replicas. None: this process is the only replica. */
  redis?: Redis | undefined;
  /** Milliseconds since the epoch, for windows in memory. */
  clock?: (() => number) | undefined;
  log: Log;
  lifetime: Lifetime;
};

/** Composes the state that the replicas share: in Redis, or in memory for a single process. */
export function createCoordination({ redis, clock, log, lifetime }: Parts): Coordination {
  const coordination = redis ? inRedis(redis, log) : inMemory(clock);
  lifetime.defer(coordination.pubsub.flush);
  if (redis) lifetime.onStart(() => redis.watch(log));
  return coordination;
}

function inRedis(redis: Redis, log: Log): Coordination {
  redis.logTo(log);
  return {
    pubsub: createRedisPubSub(redis),
    versions: createSharedVersions(redis),
    createCounter: () => createSharedCounter(redis, log),
  };
}

function inMemory(clock: (() => number) | undefined): Coordination {
  const versions = createMemoryVersions();
  return {
    pubsub: createPubSub(),
    versions,
    createCounter: () => createMemoryCounter(clock, versions.current),
  };
}

/** What a process has among all that use its database. */
export type Membership = {
  owner: Owner;
  looks: Looks;
  /** One sentence while another process uses the database without Redis. */
  warning(): string | undefined;
};

/** Joins the processes that use a database. @param onLost called after other processes declared this one dead. */
export async function joinDatabase({
  database: { name, isExclusive, prisma, sql },
  redis,
  onLost,
  log,
  lifetime,
}: Pick<Parts, 'redis' | 'log' | 'lifetime'> & {
  database: Database;
  onLost(): void;
}): Promise<Membership> {
  const onFreed = () => looks.now();
  const owner = await createOwner({ prisma, sql, log, isAlone: isExclusive, onLost, onFreed });
  lifetime.defer(owner.close);
  lifetime.onStart(owner.start);
  const looks = createLooks({ sql, owner, log });
  lifetime.onStart(looks.start);
  if (redis || name !== 'PostgreSQL') return { owner, looks, warning: () => undefined };
  const { look, warning } = createOtherProcesses(log);
  looks.add(look);
  return { owner, looks, warning };
}
