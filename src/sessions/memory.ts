import type { Prisma } from '../generated/prisma/client.ts';
import type { Database } from '../storage/database.ts';

/** What a bot keeps of the user of a session, by name. */
export type Facts = Record<string, string>;

/** The most facts of one session. */
export const MAX_FACTS = 256;

/** The facts of sessions. */
export type Memory = {
  /** Keeps a fact under a name, in place of what was there. */
  save(sessionKey: string, name: string, value: string): Promise<void>;
  /** Forgets a fact. One that is not there is forgotten already. */
  forget(sessionKey: string, name: string): Promise<void>;
};

export function createMemory({ prisma }: Pick<Database, 'prisma'>): Memory {
  return {
    async save(sessionKey, name, value) {
      const where: Prisma.MemoryEntryWhereUniqueInput = { sessionKey_name: { sessionKey, name } };
      await prisma.memoryEntry.upsert({
        where,
        create: { sessionKey, name, value },
        update: { value },
      });
    },

    async forget(sessionKey, name) {
      await prisma.memoryEntry.deleteMany({ where: { sessionKey, name } });
    },
  };
}
