import type { ApiKey, KeyScope, Prisma } from '../generated/prisma/client.ts';
import { makeId } from '../text/ids.ts';
import { apiKeyPrefix, hashApiKey } from './key-format.ts';

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

/** The row of a new key. */
export function newApiKey(
  accountId: string,
  secret: string,
  { name, scopes, botIds, expiresAt }: NewApiKey,
) {
  return {
    id: makeId('key'),
    accountId,
    name,
    prefix: apiKeyPrefix(secret),
    hash: hashApiKey(secret),
    scopes: scopes ?? ['CHAT'],
    restricted: botIds != null,
    botIds: botIds ?? [],
    expiresAt: expiresAt ?? null,
  } satisfies Prisma.ApiKeyUncheckedCreateInput;
}
