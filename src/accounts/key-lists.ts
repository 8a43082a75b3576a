import { type ApiKey, Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import { type ListDefinition, NEWEST_FIRST } from '../storage/lists.ts';
import { type Caller, covers, grantableScopes } from './caller.ts';

/** Lists the keys that the caller's key covers, including revoked ones. */
export type KeyLists = {
  /** @returns a lookup of the keys by account id, newest first. */
  list(caller: Caller, accountIds: string[]): Promise<(accountId: string) => ApiKey[]>;
  /** @returns a lookup of the keys by id; null if the caller's key does not cover it. */
  listByIds(caller: Caller, ids: string[]): Promise<(id: string) => ApiKey | null>;
};

/** The list of the keys that each key has created, newest first. */
export const CREATED_KEYS: ListDefinition = {
  ...NEWEST_FIRST,
  table: Prisma.sql`api_keys`,
  owner: Prisma.sql`created_by_id`,
};

/** SQL conditions that restrict a list to the keys that the caller's key covers. */
export function coveredInList({ key }: Caller): Prisma.Sql[] {
  return [
    Prisma.sql`scopes::text[] <@ ${grantableScopes(key)}::text[]`,
    ...(key.restricted ? [Prisma.sql`restricted AND bot_ids <@ ${key.botIds}::text[]`] : []),
  ];
}

export function createKeyLists({ prisma }: { prisma: PrismaClient }): KeyLists {
  const find = async (caller: Caller, where: Prisma.ApiKeyWhereInput) => {
    const keys = await prisma.apiKey.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    });
    return keys.filter((key) => covers(caller, key));
  };

  return {
    async list(caller, accountIds) {
      const keys = await find(caller, { accountId: { in: accountIds } });
      return (accountId) => keys.filter((key) => key.accountId === accountId);
    },

    async listByIds(caller, ids) {
      const keys = new Map((await find(caller, { id: { in: ids } })).map((key) => [key.id, key]));
      return (id) => keys.get(id) ?? null;
    },
  };
}
