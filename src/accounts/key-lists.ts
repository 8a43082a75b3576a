import type { ApiKey, Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { type Caller, covers } from './caller.ts';

/** Keys that the caller's own covers, the newest first, revoked ones too. */
export type KeyLists = {
  /** @returns those of one of these accounts. */
  list(caller: Caller, accountIds: string[]): Promise<(accountId: string) => ApiKey[]>;
  /** @returns the key with one of these ids; null where the caller's own key does not cover it. */
  listByIds(caller: Caller, ids: string[]): Promise<(id: string) => ApiKey | null>;
  /** @returns those that one of these keys has made itself. */
  listCreated(caller: Caller, creatorIds: string[]): Promise<(creatorId: string) => ApiKey[]>;
};

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

    async listCreated(caller, creatorIds) {
      const keys = await find(caller, { createdById: { in: creatorIds } });
      const byCreator = Map.groupBy(keys, ({ createdById }) => createdById);
      return (creatorId) => byCreator.get(creatorId) ?? [];
    },
  };
}
