import type { Environment, MessageRole, Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';

/** One message of a conversation as it is kept. */
export type HistoryMessage = { role: MessageRole; text: string };

/** What names a conversation: a session id means nothing outside its bot and environment. */
export type SessionRef = { botId: string; environment: Environment; sessionId: string };

/** A session that may be new: then it gets this id of Parley's own. */
export type NewSession = SessionRef & { key: string };

/** The conversation as a turn found it: what the turn is stored on top of. */
export type SessionState = { key: string; turns: number };

/** The stored conversations. */
export type History = {
  /** Finds the session, makes it where it is new, and notes that it was seen. */
  open(session: NewSession): Promise<SessionState>;
  /** The last `limit` messages, oldest first. */
  load(session: SessionState, limit: number): Promise<HistoryMessage[]>;
  /**
   * The writes that add one whole turn, for the transaction that completes its run. They fail as a whole when
   * another turn was stored since `open`.
   */
  append(
    session: SessionState,
    runId: string,
    messages: HistoryMessage[],
  ): Prisma.PrismaPromise<unknown>[];
};

export function createHistory({ prisma }: { prisma: PrismaClient }): History {
  return {
    async open({ key, botId, environment, sessionId }) {
      const row = await prisma.session.upsert({
        where: { botId_environment_sessionId: { botId, environment, sessionId } },
        create: { id: key, botId, environment, sessionId },
        update: { lastSeenAt: new Date() },
        select: { id: true, turns: true },
      });
      return { key: row.id, turns: row.turns };
    },

    async load({ key }, limit) {
      if (limit === 0) return [];
      const rows = await prisma.message.findMany({
        where: { sessionKey: key },
        orderBy: [{ turn: 'desc' }, { position: 'desc' }],
        take: limit,
        select: { role: true, text: true },
      });
      return rows.reverse();
    },

    append({ key, turns }, runId, messages) {
      const turn = turns + 1;
      return [
        prisma.session.update({ where: { id: key, turns }, data: { turns: turn } }),
        prisma.message.createMany({
          data: messages.map(({ role, text }, position) => ({
            id: makeId('msg'),
            sessionKey: key,
            runId,
            turn,
            position,
            role,
            text,
          })),
        }),
      ];
    },
  };
}
