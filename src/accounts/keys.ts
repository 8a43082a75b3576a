import { LRUCache } from 'lru-cache';
import { GatewayError } from '../errors.ts';
import type { ApiKey, KeyScope, Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';
import { authorizeScope, type Caller, mayUseBot } from './caller.ts';
import { apiKeyPrefix, hashApiKey, isApiKey, makeApiKey } from './key-format.ts';

/** A revoked key works at most this long on a replica that did not revoke it. */
const CACHE_TTL_MS = 1_000;
const CACHE_SIZE = 10_000;
const LAST_USED_PRECISION_MS = 60_000;

/** What a new key may do; what is left out is the least. */
export type NewApiKey = {
  name: string;
  /** `CHAT` alone by default. */
  scopes?: KeyScope[] | null;
  /** All bots that the caller may use by default. */
  botIds?: string[] | null;
  /** The caller's own expiry by default. */
  expiresAt?: Date | null;
};

/** A key just made, with the secret that is never shown again. */
export type IssuedApiKey = { apiKey: ApiKey; secret: string };

/** The API keys of accounts: issued, verified, revoked. */
export type Keys = {
  /** @throws GatewayError `invalid_api_key` for a key that is mistyped, unknown, expired or revoked. */
  verify(secret: string): Promise<Caller>;
  /** @throws GatewayError where the new key would be able to do what the caller's own is not. */
  issue(caller: Caller, input: NewApiKey): Promise<IssuedApiKey>;
  /** Stops a key at once. A key that is revoked already stays as it is. @throws GatewayError `not_found` */
  revoke(caller: Caller, id: string): Promise<ApiKey>;
};

export function createKeys({ prisma }: { prisma: PrismaClient }): Keys {
  const callers = new LRUCache<string, Caller>({ max: CACHE_SIZE, ttl: CACHE_TTL_MS });

  const find = async (hash: string): Promise<Caller> => {
    const cached = callers.get(hash);
    if (cached) return cached;
    const row = await prisma.apiKey.findUnique({ where: { hash }, include: { account: true } });
    if (row === null) throw invalidKey();
    const { account, ...key } = row;
    const caller = { account, key };
    callers.set(hash, caller);
    await noteUse(key);
    return caller;
  };

  const noteUse = async ({ id, lastUsedAt }: ApiKey) => {
    const now = Date.now();
    if (lastUsedAt && now - lastUsedAt.getTime() < LAST_USED_PRECISION_MS) return;
    await prisma.apiKey.updateMany({ where: { id }, data: { lastUsedAt: new Date(now) } });
  };

  return {
    async verify(secret) {
      if (!isApiKey(secret)) throw invalidKey();
      const caller = await find(hashApiKey(secret));
      const { revokedAt, expiresAt } = caller.key;
      if (revokedAt || (expiresAt && expiresAt.getTime() <= Date.now())) throw invalidKey();
      return caller;
    },

    async issue(caller, input) {
      const secret = makeApiKey();
      const data = newApiKey(caller.account.id, secret, grant(caller, input));
      return { apiKey: await prisma.apiKey.create({ data }), secret };
    },

    async revoke({ account }, id) {
      const found = await prisma.apiKey.findFirst({ where: { id, accountId: account.id } });
      if (found === null) throw new GatewayError('not_found', `There is no API key "${id}".`);
      const revoked = found.revokedAt
        ? found
        : await prisma.apiKey.update({ where: { id }, data: { revokedAt: new Date() } });
      callers.delete(revoked.hash);
      return revoked;
    },
  };
}

/** The row of a new key, for whoever makes the account along with it. */
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

/** What the caller asks for a new key, with its own limits where it asks nothing. */
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
    throw new GatewayError('invalid_request', `expiresAt: ${message}`, {
      details: [{ path: 'input.expiresAt', message }],
    });
  }
  return { ...input, scopes, botIds, expiresAt };
}

function invalidKey(): GatewayError {
  return new GatewayError('invalid_api_key', 'This API key is not valid.');
}
