import { LRUCache } from 'lru-cache';
import { createMemoryVersions, type Versions } from '../coordination/cache-versions.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import { GatewayError, invalidInput } from '../errors.ts';
import type { ApiKey, KeyScope, Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';
import type { Log } from '../log.ts';
import { actorOf, recordChanges } from './audit.ts';
import { authorizeScope, type Caller, covers, mayUseBot } from './caller.ts';
import { createCallerCache, type FindOptions } from './caller-cache.ts';
import { apiKeyPrefix, hashApiKey, isApiKey, makeApiKey } from './key-format.ts';
import { findDescendants, lockAccount, makeRoom } from './key-lineage.ts';
import { createKeyLists, type KeyLists } from './key-lists.ts';
import type { KeyOrigin } from './key-lookup.ts';
import type { KeyWatchers } from './key-watchers.ts';
import { accountVersionName } from './limits.ts';

/** Channel on which the hashes of revoked keys are published. */
const REVOKED = 'keys:revoked';

const CACHE_SIZE = 10_000;
const LAST_USED_PRECISION_MS = 60_000;

/** The rights of a new key. */
export type NewApiKey = {
  name: string;
  /** Default: `CHAT` only. */
  scopes?: KeyScope[] | null;
  /** Default: all bots that the caller may use. */
  botIds?: string[] | null;
  /** Default: the caller's own expiry. */
  expiresAt?: Date | null;
};

/** A new key with its secret, which is not stored. */
export type IssuedApiKey = { apiKey: ApiKey; secret: string };

/** The API keys of all accounts. */
export type Keys = KeyLists & {
  /** @throws GatewayError `invalid_api_key` if the secret is malformed, unknown, expired or revoked. */
  verify(secret: string, origin?: KeyOrigin): Promise<Caller>;
  /** Authenticates a key by its id. @throws GatewayError `invalid_api_key` */
  find(id: string): Promise<Caller>;
  /**
   * Calls `ended` within a second after the caller's key is revoked on any replica, or after its key or token expires.
   *
   * @returns a function that stops the watch.
   */
  watch(caller: Caller, ended: () => void): () => void;
  /**
   * Issues a key.
   *
   * @throws GatewayError if the new key would have more rights than the caller's, if it is restricted to a bot that does
   *   not belong to the account, or if the account has too many keys.
   */
  issue(caller: Caller, input: NewApiKey): Promise<IssuedApiKey>;
  /**
   * Revokes a key. From then on no replica serves a request with it. A key that is already revoked stays unchanged.
   *
   * @param withCreated whether to revoke, in the same transaction, all keys that it created directly or through others.
   * @throws GatewayError `not_found`, also if the key has more rights than the caller's.
   */
  revoke(caller: Caller, id: string, withCreated?: boolean): Promise<ApiKey>;
};

type Parts = {
  prisma: PrismaClient;
  pubsub: PubSub;
  /** Default: versions in this process's memory. */
  versions?: Versions;
  watchers: Pick<KeyWatchers, 'add' | 'end'>;
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
}: Parts): Keys {
  const noteUse = ({ id, lastUsedAt }: ApiKey) => {
    const now = Date.now();
    if (lastUsedAt && now - lastUsedAt.getTime() < LAST_USED_PRECISION_MS) return;
    prisma.apiKey
      .updateMany({ where: { id }, data: { lastUsedAt: new Date(now) } })
      .catch((err: unknown) => log.error({ err }, 'Failed to record the last use of an API key.'));
  };

  /** Rejects bots that do not exist or belong to another account. */
  const assertBots = async ({ account }: Caller, botIds: string[]) => {
    const bots = await prisma.bot.findMany({
      where: { id: { in: botIds } },
      select: { id: true, accountId: true },
    });
    for (const id of botIds) {
      const bot = bots.find((candidate) => candidate.id === id);
      if (!bot) throw new GatewayError('bot_not_found', `There is no bot "${id}".`);
      if (bot.accountId !== account.id) throw noAccess(id);
    }
  };

  /** By key id. A key's hash never changes, so entries do not expire. */
  const hashes = new LRUCache<string, string>({
    max: CACHE_SIZE,
    fetchMethod: async (id) => (await prisma.apiKey.findUnique({ where: { id } }))?.hash,
  });

  const valid = async (hash: string | undefined, how: FindOptions = {}): Promise<Caller> => {
    const caller = hash && (await callers.find(hash, how));
    if (!caller) throw invalidKey();
    const { revokedAt, expiresAt } = caller.key;
    if (revokedAt || (expiresAt && expiresAt.getTime() <= now())) throw invalidKey();
    return caller;
  };

  const callers = createCallerCache({
    prisma,
    onRead: ({ key }) => noteUse(key),
    renew: (hash, version) => valid(hash, { version }),
  });
  pubsub.subscribe(REVOKED, (hash) => {
    callers.forget(hash);
    watchers.end(hash);
  });

  return {
    ...createKeyLists({ prisma }),

    verify: (secret, origin) => valid(isApiKey(secret) ? hashApiKey(secret) : undefined, origin),

    find: async (id) => valid(await hashes.fetch(id)),

    watch: ({ key }, ended) => watchers.add(key, ended),

    async issue(caller, input) {
      const secret = makeApiKey();
      const granted = grant(caller, input);
      await assertBots(caller, granted.botIds ?? []);
      const { account, key } = caller;
      const data = { ...newApiKey(account.id, secret, granted), createdById: key.id };
      const apiKey = await prisma.$transaction(async (tx) => {
        await lockAccount(tx, account.id);
        // A key that was revoked in the meantime must not issue another one.
        if (!(await tx.apiKey.findFirst({ where: { id: key.id, revokedAt: null } })))
          throw invalidKey();
        await makeRoom(tx, account.id);
        const change = { action: 'CREATE_API_KEY', targetId: data.id } as const;
        await recordChanges(tx, actorOf(caller), change);
        return tx.apiKey.create({ data });
      });
      return { apiKey, secret };
    },

    async revoke(caller, id, withCreated = false) {
      const accountId = caller.account.id;
      const revoked = await prisma.$transaction(async (tx) => {
        await lockAccount(tx, accountId);
        const found = await tx.apiKey.findFirst({ where: { id, accountId } });
        if (found === null || !covers(caller, found)) throw unknownKey(id);
        const where = { id: { in: [id, ...(withCreated ? await findDescendants(tx, id) : [])] } };
        const data = { revokedAt: new Date() };
        const ended = await tx.apiKey.updateManyAndReturn({
          where: { ...where, revokedAt: null },
          data,
          select: { id: true },
        });
        const changes = ended.map(
          (key) => ({ action: 'REVOKE_API_KEY', targetId: key.id }) as const,
        );
        await recordChanges(tx, actorOf(caller), ...changes);
        return tx.apiKey.findMany({ where });
      });
      for (const { hash } of revoked) pubsub.publish(REVOKED, hash);
      await versions.renew(accountVersionName(accountId));
      const key = revoked.find((one) => one.id === id);
      if (!key) throw unknownKey(id);
      return key;
    },
  };
}

/** The row of a new key, for the code that creates an account with its first key. */
export function newApiKey(
  accountId: string,
  secret: string,
  { name, scopes, botIds, expiresAt }: NewApiKey,
): Prisma.ApiKeyUncheckedCreateInput {
  return {
    id: makeId('key'),
    accountId,
    name,
    prefix: apiKeyPrefix(secret),
    hash: hashApiKey(secret),
    scopes: scopes ?? ['CHAT'],
    restricted: botIds != null,
    botIds: botIds ?? [],
    expiresAt,
  };
}

/** The rights of a new key: the requested ones, or the caller's own restrictions as defaults. */
function grant(caller: Caller, input: NewApiKey): NewApiKey {
  const { key } = caller;
  const scopes = [...new Set(input.scopes ?? ['CHAT' as const])];
  for (const scope of scopes) authorizeScope(caller, scope);
  const botIds = input.botIds ?? (key.restricted ? key.botIds : null);
  const closed = botIds?.find((id) => !mayUseBot(caller, id));
  if (closed !== undefined) {
    throw new GatewayError(
      'bot_access_denied',
      `This API key has no access to the bot "${closed}".`,
    );
  }
  const expiresAt = input.expiresAt ?? key.expiresAt;
  if (expiresAt && key.expiresAt && expiresAt > key.expiresAt) {
    const message = 'must not be later than the expiry of the key that issues it';
    throw invalidInput([{ path: 'input.expiresAt', message }]);
  }
  return { ...input, scopes, botIds, expiresAt };
}

function noAccess(botId: string): GatewayError {
  return new GatewayError('bot_access_denied', `This API key has no access to the bot "${botId}".`);
}

function unknownKey(id: string): GatewayError {
  return new GatewayError('not_found', `There is no API key "${id}".`);
}

function invalidKey(): GatewayError {
  return new GatewayError('invalid_api_key', 'This API key is not valid.');
}
