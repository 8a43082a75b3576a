import { z } from 'zod';
import type { Environment, Message, Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';

/** One message of a conversation as it is kept. */
export type HistoryMessage =
  | { role: 'USER'; text: string }
  | { role: 'ASSISTANT'; text: string; toolCalls: ToolCall[] }
  | { role: 'TOOL'; text: string; toolCallId: string };

/** A call of a tool, by the tool's own name `<group>.<capability>`. */
export type ToolCall = { id: string; name: string; arguments: string };

const toolCalls = z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() }));

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
  /** The last `limit` messages, oldest first, without the part of a turn that the limit cuts. */
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
        select: { role: true, text: true, toolCalls: true, toolCallId: true },
      });
      return fromAUserOn(rows.reverse().map(readMessage));
    },

    append({ key, turns }, runId, messages) {
      const turn = turns + 1;
      return [
        prisma.session.update({ where: { id: key, turns }, data: { turns: turn } }),
        prisma.message.createMany({
          data: messages.map((message, position) => ({
            id: makeId('msg'),
            sessionKey: key,
            runId,
            turn,
            position,
            ...message,
          })),
        }),
      ];
    },
  };
}

function readMessage({
  role,
  text,
  toolCalls: calls,
  toolCallId,
}: Pick<Message, 'role' | 'text' | 'toolCalls' | 'toolCallId'>): HistoryMessage {
  switch (role) {
    case 'USER':
      return { role, text };
    case 'ASSISTANT':
      return { role, text, toolCalls: toolCalls.parse(calls ?? []) };
    case 'TOOL':
      return { role, text, toolCallId: toolCallId ?? '' };
  }
}

/** A model refuses the answer of a tool without its call. */
function fromAUserOn(messages: HistoryMessage[]): HistoryMessage[] {
  const first = messages.findIndex(({ role }) => role === 'USER');
  return first < 0 ? [] : messages.slice(first);
}
