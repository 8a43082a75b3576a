import { VisitHistory } from '../../generated/operations/console.ts';
import type { Piece, Turn } from '../chat/turn.ts';
import type { Visit } from './visit.ts';

/** A page of the earlier conversation. */
export type History = {
  turns: Turn[];
  /** The position before which more messages stand, if there are any. */
  before: string | undefined;
  /** When the last message was stored, by the server's clock. */
  at: string | undefined;
  /** The session, if a tool call of it waits for the approval of a person. */
  waitingIn: string | undefined;
};

/** Messages that one request reads. */
const PAGE = 60;

type Message = { id: string; role: string; text: string };

/** Reads the latest messages of the session, or those before a position. @throws ChatProblem */
export async function readHistory(visit: Visit, bot: string, before?: string): Promise<History> {
  const { bot: found } = await visit.ask(VisitHistory, { botId: bot, last: PAGE, before });
  if (!found?.session) return { turns: [], before: undefined, at: undefined, waitingIn: undefined };
  const { messages, waitsForApproval, sessionId } = found.session;
  const { hasPreviousPage, startCursor } = messages.pageInfo;
  return {
    turns: turnsOf(messages.edges.map(({ node }) => node)),
    before: hasPreviousPage ? (startCursor ?? undefined) : undefined,
    at: messages.edges.at(-1)?.node.createdAt,
    waitingIn: waitsForApproval ? sessionId : undefined,
  };
}

/** A turn begins with a message of the user. A page may begin within a turn. */
function turnsOf(messages: Message[]): Turn[] {
  const turns: Turn[] = [];
  for (const { id, role, text } of messages) {
    const piece: Piece = { type: 'text', text, from: 0, to: 0 };
    const last = turns.at(-1);
    if (role === 'USER') turns.push({ id, message: text, pieces: [], state: 'done' });
    else if (text === '') continue;
    else if (last) last.pieces.push(piece);
    else turns.push({ id, message: '', pieces: [piece], state: 'done' });
  }
  return turns;
}
