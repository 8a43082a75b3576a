import { Prisma, type PrismaClient, type Session } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';
import type { History, SessionRef } from './history.ts';
import type { Memory } from './memory.ts';
import { type Turns, turnName } from './turns.ts';

/** What may be done to a conversation from outside of it. */
export type Sessions = {
  /**
   * Keeps a fact of a session's user, or forgets it. A session that nobody has talked in yet is made.
   *
   * @param value `null` forgets.
   */
  setMemory(session: SessionRef, name: string, value: string | null): Promise<Session>;
  /**
   * Forgets a session: its history, its memory, and the text of its runs. It waits for the session's turn.
   *
   * @returns whether there was anything to forget.
   * @throws GatewayError `session_busy`
   */
  forget(session: SessionRef, signal: AbortSignal): Promise<boolean>;
};

export function createSessions({
  prisma,
  history,
  memory,
  turns,
}: {
  prisma: PrismaClient;
  history: History;
  memory: Memory;
  turns: Turns;
}): Sessions {
  return {
    async setMemory(session, name, value) {
      const { key } = await history.open({ ...session, key: makeId('ses') });
      if (value === null) await memory.forget(key, name);
      else await memory.save(key, name, value);
      return prisma.session.findUniqueOrThrow({ where: { id: key } });
    },

    async forget(session, signal) {
      const release = await turns.take(turnName(session), signal);
      try {
        const { botId, environment, sessionId } = session;
        const [sessions, runs] = await prisma.$transaction([
          prisma.session.deleteMany({ where: { botId, environment, sessionId } }),
          prisma.run.updateMany({
            where: { botId, environment, sessionId },
            data: { input: '', response: null, context: Prisma.DbNull, metadata: Prisma.DbNull },
          }),
        ]);
        return sessions.count + runs.count > 0;
      } finally {
        release();
      }
    },
  };
}
