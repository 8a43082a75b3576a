import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { entryLimit } from './entry-limit.ts';
import type { Redis } from './redis.ts';

/**
 * Versions of cached data. Each change renews the version, and a cache entry with another version than the current one
 * is stale.
 */
export type Versions = {
  /** Call it after the change. Once it resolves, no new request uses the data from before the change. */
  renew(name: string): Promise<void>;
};

/** The longest time that a cache entry may be used, regardless of its version. */
export const REMEMBER_MS = 1_000;

/**
 * How long an entry may still be used that has just been read, in milliseconds. The read may have missed a change, and a change
 * without Redis waits for `REMEMBER_MS` alone, so this time includes the read.
 *
 * @param readAt when the read began, by `performance.now()`.
 */
export function rememberFor(readAt: number): number {
  return Math.max(1, REMEMBER_MS - (performance.now() - readAt));
}

/** How long Redis keeps a version. It must exceed `REMEMBER_MS`, so that no cache entry outlives its version. */
const KEEP_S = 60;
const MAX_NAMES = 100_000;

/** The versions of a single process. */
export type MemoryVersions = Versions & { current(name: string): string };

export function createMemoryVersions(): MemoryVersions {
  const versions = new LRUCache<string, string>(entryLimit(MAX_NAMES));
  return {
    renew: async (name) => {
      versions.set(name, randomUUID());
    },
    current: (name) => versions.get(name) ?? '',
  };
}

/** The versions that all replicas share in Redis. `createSharedCounter` reads them in its own round trip. */
export function createSharedVersions({ client, prefix }: Redis): Versions {
  return {
    async renew(name) {
      await client
        .set(versionKey(prefix, name), randomUUID(), 'EX', KEEP_S)
        // Other replicas may still read the old version from Redis. Wait until their cache entries expire.
        .catch(() => setTimeout(REMEMBER_MS));
    },
  };
}

export function versionKey(prefix: string, name: string): string {
  return `${prefix}version:${name}`;
}
