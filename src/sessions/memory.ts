import { GatewayError } from '../errors/errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Database } from '../storage/database.ts';
import { MAX_FACTS } from '../text/input.ts';

/** Facts about a session's user, by name. */
export type Facts = Record<string, string>;

/** Stores the facts of sessions. */
export type Memory = {
  /**
   * Sets a fact. Replaces the previous value.
   *
   * @throws GatewayError `invalid_request` if the session already has `MAX_FACTS` other facts.
   */
  save(sessionKey: string, name: string, value: string): Promise<void>;
  /** Deletes a fact, if it exists. */
  forget(sessionKey: string, name: string): Promise<void>;
};

export function createMemory({ prisma }: Pick<Database, 'prisma'>): Memory {
  return {
    async save(sessionKey, name, value) {
      await prisma.$transaction((tx) => saveFact(tx, sessionKey, name, value));
    },

    async forget(sessionKey, name) {
      await prisma.memoryEntry.deleteMany({ where: { sessionKey, name } });
    },
  };
}

/**
 * Sets a fact, as `Memory.save`, in a transaction.
 *
 * @throws GatewayError `invalid_request` if the session already has `MAX_FACTS` other facts.
 */
export async function saveFact(
  tx: Prisma.TransactionClient,
  sessionKey: string,
  name: string,
  value: string,
): Promise<void> {
  // Locks the session, so that concurrent saves cannot exceed the limit.
  await tx.$executeRaw`SELECT 1 FROM sessions WHERE id = ${sessionKey} FOR NO KEY UPDATE`;
  const others = await tx.memoryEntry.count({ where: { sessionKey, name: { not: name } } });
  if (others >= MAX_FACTS) throw tooManyFacts();
  await tx.$executeRaw`
    INSERT INTO memory_entries (session_key, name, value, updated_at) VALUES (${sessionKey}, ${name}, ${value}, now())
    ON CONFLICT (session_key, name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`;
}

function tooManyFacts(): GatewayError {
  const message = `A bot keeps at most ${MAX_FACTS} facts of a user. Forget one first.`;
  return new GatewayError('invalid_request', message);
}
