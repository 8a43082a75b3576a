import { LRUCache } from 'lru-cache';
import { createMemoryVersions, type Versions } from '../coordination/cache-versions.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import { GatewayError } from '../errors/errors.ts';
import type { ApiKey, PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../observability/log.ts';
import type { Caller } from './caller.ts';
import { createCallerCache, type FindOptions } from './caller-cache.ts';
import { createKeyChanges, hasEnded, invalidKey, type KeyChanges } from './key-changes.ts';
import { hashApiKey, isApiKey } from './key-format.ts';
import { createKeyLists, type KeyLists } from './key-lists.ts';
import { createKeyLookups, fetchByLookup, type KeyLookups, type KeyOrigin } from './key-lookup.ts';
import type { KeyWatchers } from './key-watchers.ts';
import { accountVersionName } from './limits.ts';

/** Channel on which the hashes of revoked keys are published. */
const REVOKED = 'keys:revoked';
/** Channel on which the hashes of changed keys are published. */
const UPDATED = 'keys:updated';

const CACHE_SIZE = 10_000;
const LAST_USED_PRECISION_MS = 60_000;

/** The API keys of all accounts. */
export type Keys = KeyLists &
  KeyChanges & {
    /** @throws GatewayError `invalid_api_key` if the secret is malformed, unknown, expired or revoked, or of a suspended
     *   account. */
    verify(secret: string, origin?: KeyOrigin): Promise<Caller>;
    /** Authenticates a key by its id. @throws GatewayError `invalid_api_key` */
    find(id: string, origin?: KeyOrigin): Promise<Caller>;
    /**
     * Calls `ended` within a second after the caller's key is revoked or loses a right on any replica, or after its key or
     * token expires.
     *
     * @returns a function that stops the watch.
     */
    watch(caller: Caller, ended: () => void): () => void;
  };

type Parts = {
  prisma: PrismaClient;
  pubsub: PubSub;
  /** Default: versions in this process's memory. */
  versions?: Versions;
  watchers: Pick<KeyWatchers, 'add' | 'end'>;
  /** Default: look-ups with limits of their own. */
  lookUps?: KeyLookups;
  log: Log;
  now?: (() => number) | undefined;
};

export function createKeys({
  prisma,
  pubsub,
  versions = createMemoryVersions(),
  watchers,
  log,
  now = Date.now,
  lookUps = createKeyLookups(now),
}: Parts): Keys {
  const noteUse = ({ id, lastUsedAt }: ApiKey) => {
    // Not a limit, only to save statements: the clock of this process may differ from the database's.
    if (lastUsedAt && Math.abs(Date.now() - lastUsedAt.getTime()) < LAST_USED_PRECISION_MS) return;
    const precision = `${LAST_USED_PRECISION_MS} milliseconds`;
    prisma.$executeRaw`
      UPDATE api_keys SET last_used_at = now()
      WHERE id = ${id} AND COALESCE(last_used_at < now() - ${precision}::interval, true)`.catch(
      (err: unknown) => log.error({ err }, 'Failed to record the last use of an API key.'),
    );
  };

  /** By key id. A key's hash never changes, so entries do not expire. */
  const hashes = new LRUCache<string, string, KeyOrigin>({
    max: CACHE_SIZE,
    fetchMethod: async (id, _stale, { context: origin }) => (await lookUpHash(id, origin))?.hash,
  });
  const select = { id: true, hash: true };
  const lookUpHash = lookUps({
    findOne: (id) => prisma.apiKey.findUnique({ where: { id }, select }),
    findMany: async (ids) => {
      const rows = await prisma.apiKey.findMany({ where: { id: { in: ids } }, select });
      return new Map(rows.map((row) => [row.id, row]));
    },
  });

  const valid = async (hash: string | undefined, how: FindOptions = {}): Promise<Caller> => {
    const caller = hash && (await callers.find(hash, how));
    if (!caller) throw invalidKey();
    if (hasEnded(caller.key, now())) throw invalidKey();
    if (caller.account.suspendedAt) throw suspended();
    return caller;
  };

  const callers = createCallerCache({
    prisma,
    lookUps,
    isValid: ({ account, ...key }) => !hasEnded(key, now()) && !account.suspendedAt,
    onRead: ({ key }) => noteUse(key),
    renew: (hash, version) => valid(hash, { version }),
  });
  pubsub.subscribe(REVOKED, (hash) => {
    callers.forget(hash);
    watchers.end(hash);
  });
  pubsub.subscribe(UPDATED, callers.forget);

  return {
    ...createKeyLists({ prisma }),

    ...createKeyChanges({
      prisma,
      now,
      async announce(accountId, { ended = [], updated = [] }) {
        for (const { hash } of ended) pubsub.publish(REVOKED, hash);
        for (const { hash } of updated) pubsub.publish(UPDATED, hash);
        await versions.renew(accountVersionName(accountId));
      },
    }),

    verify: (secret, origin) => valid(isApiKey(secret) ? hashApiKey(secret) : undefined, origin),

    find: async (id, origin = {}) => valid(await fetchByLookup(hashes, id, origin), origin),

    watch: ({ key }, ended) => watchers.add(key, ended),
  };
}

function suspended(): GatewayError {
  return new GatewayError('invalid_api_key', 'The account of this API key is suspended.');
}
