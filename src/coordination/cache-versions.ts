import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Redis } from './redis.ts';

/**
 * Versions of what is remembered outside the database. Whoever changes it makes a new version, and whoever
 * remembers it under another version than the present one forgets it.
 */
export type Versions = {
  /** To be called after the change. Settles when nothing that begins from then on goes by what was before. */
  renew(name: string): Promise<void>;
};

/** How long anything may be remembered at all, whatever its version. */
export const REMEMBER_MS = 1_000;
/** Nothing that is remembered is older than a version that has been forgotten. */
const KEEP_S = 60;
const MAX_NAMES = 100_000;

/** The versions of this process, and how it reads them. */
export type MemoryVersions = Versions & { current(name: string): string };

export function createMemoryVersions(): MemoryVersions {
  const versions = new LRUCache<string, string>({ max: MAX_NAMES });
  return {
    renew: async (name) => {
      versions.set(name, randomUUID());
    },
    current: (name) => versions.get(name) ?? '',
  };
}

/** The versions of all replicas together. They are read along with what is counted: see `createSharedWindows`. */
export function createSharedVersions({ client, prefix }: Redis): Versions {
  return {
    async renew(name) {
      await client
        .set(versionKey(prefix, name), randomUUID(), 'EX', KEEP_S)
        // Other replicas may still reach Redis, and learn nothing there. They forget by themselves.
        .catch(() => setTimeout(REMEMBER_MS));
    },
  };
}

export function versionKey(prefix: string, name: string): string {
  return `${prefix}version:${name}`;
}
