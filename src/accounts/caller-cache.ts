import { LRUCache } from 'lru-cache';
import { REMEMBER_MS, rememberFor } from '../coordination/cache-versions.ts';
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { retryInRequest } from '../storage/retry.ts';
import type { Caller } from './caller.ts';
import { fetchByLookup, type KeyLookups, type KeyOrigin } from './key-lookup.ts';

export type FindOptions = KeyOrigin & {
  /** The account's current version, if known. No older entry is returned from then on. */
  version?: string;
};

/** Caches callers by their keys' hashes for a second. */
export type CallerCache = {
  /** @returns `undefined` if no key has this hash. Revoked and expired keys are found too. */
  find(hash: string, options: FindOptions): Promise<Caller | undefined>;
  /** Evicts a caller, so that its next request reads it again. */
  forget(hash: string): void;
};

const CACHE_SIZE = 10_000;

export function createCallerCache({
  prisma,
  lookUps,
  isValid,
  onRead,
  renew,
}: {
  prisma: PrismaClient;
  lookUps: KeyLookups;
  /** Whether a key and its account may be used. */
  isValid(row: Prisma.ApiKeyGetPayload<{ include: { account: true } }>): boolean;
  /** Called with each caller read from the database. */
  onRead(caller: Caller): void;
  /** As `Caller.cacheEntry.renew`. */
  renew(hash: string, version: string): Promise<Caller>;
}): CallerCache {
  /** By hash: the account's version at the last request; none if the account has not changed recently. */
  const readUnder = new LRUCache<string, string>({ max: CACHE_SIZE });

  const include = { account: true };
  const lookUp = lookUps({
    statements: 2,
    isValid,
    findOne: (hash) => retryInRequest(() => prisma.apiKey.findUnique({ where: { hash }, include })),
    findMany: async (hashes) => {
      const rows = await prisma.apiKey.findMany({ where: { hash: { in: hashes } }, include });
      return new Map(rows.map((row) => [row.hash, row]));
    },
  });

  /** By hash and version, so that no request gets a caller that was read under an older version. */
  const callers = new LRUCache<string, Caller, KeyOrigin>({
    max: CACHE_SIZE,
    ttl: REMEMBER_MS,
    // A request that arrived before the eviction gets the fetched caller; a later one reads it again.
    ignoreFetchAbort: true,
    fetchMethod: async (name, _stale, { context: origin, options }) => {
      const [hash = '', version = ''] = name.split(' ');
      const readAt = performance.now();
      const row = await lookUp(hash, origin);
      if (!row) return undefined;
      const { account, ...key } = row;
      const cacheEntry = { version, renew: (current: string) => renew(hash, current) };
      const caller: Caller = { account, key, cacheEntry };
      onRead(caller);
      options.ttl = rememberFor(readAt);
      return caller;
    },
  });

  const nameOf = (hash: string) => `${hash} ${readUnder.get(hash) ?? ''}`;

  return {
    find(hash, { version, ...origin }) {
      if (version) readUnder.set(hash, version);
      else if (version === '') readUnder.delete(hash);
      return fetchByLookup(callers, nameOf(hash), origin);
    },

    forget(hash) {
      callers.delete(nameOf(hash));
    },
  };
}
