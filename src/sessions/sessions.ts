import { GatewayError } from '../errors.ts';
import { Prisma, type PrismaClient, type Session } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';
import { type Lists, NEWEST_FIRST } from '../storage/lists.ts';
import type { SessionRef } from './history.ts';
import { MAX_FACTS, type Memory } from './memory.ts';
import type { Turns } from './turns.ts';

/** The sessions of bots, the newest first. */
export const SESSIONS: Lists = {
  ...NEWEST_FIRST,
  table: Prisma.sql`sessions`,
  owner: Prisma.sql`bot_id`,
};

/** What may be done to a conversation from outside of it. */
export type Sessions = {
  /**
   * Keeps a fact of a session's user, or forgets it. A session that nobody has talked in yet is made.
   *
   * @param value `null` forgets.
   * @throws GatewayError `invalid_request` where the session has as many other facts as it may have.
   */
  setMemory(session: SessionRef, name: string, value: string | null): Promise<Session>;
  /**
   * Forgets a session: its history, its memory, the text of its runs, and which requests they answer: the same again is a
   * new one. It waits for the session's turn.
   *
   * @returns whether there was anything to forget.
   * @throws GatewayError `session_busy`
   */
  forget(session: SessionRef, signal: AbortSignal): Promise<boolean>;
};

export function createSessions({
  prisma,
  memory,
  turns,
}: {
  prisma: PrismaClient;
  memory: Memory;
  turns: Turns;
}): Sessions {
  return {
    async setMemory(session, name, value) {
      const { id: key } = await prisma.session.upsert({
        where: { botId_environment_sessionId: session },
        create: { id: makeId('ses'), ...session },
        update: { lastSeenAt: new Date() },
        select: { id: true },
      });
      if (value === null) {
        await memory.forget(key, name);
      } else {
        const others = await prisma.memoryEntry.count({
          where: { sessionKey: key, name: { not: name } },
        });
        if (others >= MAX_FACTS) {
          const message = `A session keeps at most ${MAX_FACTS} facts: forget one first.`;
          throw new GatewayError('invalid_request', message);
        }
        await memory.save(key, name, value);
      }
      return prisma.session.findUniqueOrThrow({ where: { id: key } });
    },

    async forget(session, signal) {
      const { botId, environment, sessionId } = session;
      const where = { botId_environment_sessionId: session };
      const known = await prisma.session.findUnique({ where, select: { id: true } });
      if (known === null) return false;
      const turn = await turns.take({ ...session, key: known.id }, { signal });
      try {
        await prisma.$transaction([
          prisma.run.updateMany({
            where: session,
            data: {
              input: '',
              response: null,
              events: Prisma.DbNull,
              context: Prisma.DbNull,
              metadata: Prisma.DbNull,
            },
          }),
          prisma.$executeRaw`
            DELETE FROM idempotency_records
            WHERE account_id = (SELECT account_id FROM bots WHERE id = ${botId}) AND run_id IN (
              SELECT id FROM runs
              WHERE bot_id = ${botId} AND environment = ${environment}::"Environment" AND session_id = ${sessionId}
            )`,
          prisma.session.deleteMany({ where: { id: turn.key } }),
        ]);
        return true;
      } finally {
        await turns.release(turn);
      }
    },
  };
}
