import { serverNow } from '../server/clock.ts';
import type { Piece, Turn } from './turn.ts';

/**
 * Merges the stored turns of a conversation with the turns of this visit, some of which are stored too, in their order.
 * A turn of this visit keeps its recording, and has the present states of its tool calls.
 */
export function mergedTurns(stored: Turn[], visit: Turn[]): Turn[] {
  const places = new Map(stored.map(({ runId }, at) => [runId, at]));
  const visited = new Set(visit.map(({ runId }) => runId).filter(Boolean));
  const turns: Turn[] = [];
  let next = 0;
  const addUntil = (isReached: (turn: Turn) => boolean) => {
    for (; next < stored.length; next += 1) {
      const turn = stored[next];
      if (!turn || isReached(turn)) return;
      if (!visited.has(turn.runId)) turns.push(turn);
    }
  };
  for (const turn of visit) {
    const at = turn.runId === undefined ? undefined : places.get(turn.runId);
    const sentAt = sentTime(turn);
    const found = at === undefined ? undefined : stored[at];
    addUntil((one) => (found ? one === found : Date.parse(one.createdAt ?? '') > sentAt));
    turns.push(found ? withStates(turn, found) : turn);
  }
  addUntil(() => false);
  return turns;
}

/** When a message was sent, in milliseconds since the epoch. */
function sentTime({ sentAt = 0 }: Turn): number {
  return serverNow() - performance.now() + sentAt;
}

/** A turn with the states of its tool calls as they are stored. */
function withStates(turn: Turn, { pieces }: Turn): Turn {
  const stored = pieces.filter((piece) => piece.type === 'tool');
  if (stored.length === 0) return turn;
  const calls = turn.pieces.filter((piece) => piece.type === 'tool');
  const withState = (piece: Piece): Piece => {
    if (piece.type !== 'tool') return piece;
    const found = stored[calls.indexOf(piece)];
    return found?.status && found.name === piece.name ? { ...piece, status: found.status } : piece;
  };
  return { ...turn, pieces: turn.pieces.map(withState) };
}
