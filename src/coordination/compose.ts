import type { Lifetime } from '../async/lifetime.ts';
import type { Log } from '../observability/log.ts';
import { createMemoryVersions, createSharedVersions, type Versions } from './cache-versions.ts';
import {
  createMemoryCounter,
  createSharedCounter,
  type FixedWindowCounter,
} from './fixed-window-counter.ts';
import { createPubSub, createRedisPubSub, type PubSub } from './pubsub.ts';
import type { Redis } from './redis.ts';

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
