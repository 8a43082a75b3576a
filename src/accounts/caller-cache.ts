import { LRUCache } from 'lru-cache';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { REMEMBER_MS } from '../storage/versions.ts';
import type { Caller } from './caller.ts';
import { createSharedLookup } from './shared-lookup.ts';

export type FindOptions = {
  /** The account's current version, where the request knows it: nothing older is found, now and later. */
  version?: string;
  /**
   * Whether the look-up of a key that is not cached shares a statement with others, up to 100 ms later: for an address
   * beyond its limit, which most likely guesses. A valid key works from there all the same.
   */
  isShared?: boolean;
};

/** The accounts and keys of callers by the keys' hashes, remembered for a second. */
export type CallerCache = {
  /** @returns none where no key has this hash. A key that has ended is found too. */
  find(hash: string, options: FindOptions): Promise<Caller | undefined>;
  /** Reads the caller anew at its next request. */
  forget(hash: string): void;
};

const CACHE_SIZE = 10_000;

export function createCallerCache({
  prisma,
  onRead,
  renew,
}: {
  prisma: PrismaClient;
  /** Called with each caller that was read from the database. */
  onRead(caller: Caller): void;
  /** As `Caller.reading.renew`. */
  renew(hash: string, version: string): Promise<Caller>;
}): CallerCache {
  /** By hash: the account's version at the last request; none where the account has not changed lately. */
  const readUnder = new LRUCache<string, string>({ max: CACHE_SIZE });

  const lookUpShared = createSharedLookup(async (hashes) => {
    const where = { hash: { in: hashes } };
    const rows = await prisma.apiKey.findMany({ where, include: { account: true } });
    return new Map(rows.map((row) => [row.hash, row]));
  });

  /** By hash and version, so that no request finds under a version what was read before it. */
  const callers = new LRUCache<string, Caller, Pick<FindOptions, 'isShared'>>({
    max: CACHE_SIZE,
    ttl: REMEMBER_MS,
    // Requests that arrived before a key is revoked get it as it was found; later ones read it anew.
    ignoreFetchAbort: true,
    fetchMethod: async (name, _stale, { context: { isShared } }) => {
      const [hash = '', version = ''] = name.split(' ');
      const row = isShared
        ? await lookUpShared(hash)
        : await prisma.apiKey.findUnique({ where: { hash }, include: { account: true } });
      if (!row) return undefined;
      const { account, ...key } = row;
      const reading = { version, renew: (current: string) => renew(hash, current) };
      const caller: Caller = { account, key, reading };
      onRead(caller);
      return caller;
    },
  });

  const nameOf = (hash: string) => `${hash} ${readUnder.get(hash) ?? ''}`;

  return {
    find(hash, { version, isShared = false }) {
      if (version) readUnder.set(hash, version);
      else if (version === '') readUnder.delete(hash);
      return callers.fetch(nameOf(hash), { context: { isShared } });
    },

    forget(hash) {
      callers.delete(nameOf(hash));
    },
  };
}
