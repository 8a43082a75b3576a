import { GatewayError } from '../errors.ts';
import { MAX_FACTS } from '../input.ts';
import type { Database } from '../storage/database.ts';

/** What a bot keeps of the user of a session, by name. */
export type Facts = Record<string, string>;

/** The facts of sessions. */
export type Memory = {
  /**
   * Keeps a fact under a name, in place of what was there.
   *
   * @throws GatewayError `invalid_request` where the session has as many others as it may have.
   */
  save(sessionKey: string, name: string, value: string): Promise<void>;
  /** Forgets a fact. One that is not there is forgotten already. */
  forget(sessionKey: string, name: string): Promise<void>;
};

export function createMemory({ prisma }: Pick<Database, 'prisma'>): Memory {
  return {
    async save(sessionKey, name, value) {
      await prisma.$transaction(async (tx) => {
        // Facts of one session are counted and kept one after the other.
        await tx.$executeRaw`SELECT 1 FROM sessions WHERE id = ${sessionKey} FOR NO KEY UPDATE`;
        const others = await tx.memoryEntry.count({ where: { sessionKey, name: { not: name } } });
        if (others >= MAX_FACTS) throw tooManyFacts();
        await tx.memoryEntry.upsert({
          where: { sessionKey_name: { sessionKey, name } },
          create: { sessionKey, name, value },
          update: { value },
        });
      });
    },

    async forget(sessionKey, name) {
      await prisma.memoryEntry.deleteMany({ where: { sessionKey, name } });
    },
  };
}

function tooManyFacts(): GatewayError {
  const message = `A bot keeps at most ${MAX_FACTS} facts of a user. Forget one first.`;
  return new GatewayError('invalid_request', message);
}
