import { useEffect } from 'react';
import { isOpen, type Piece, type Turn } from '../../chat/turn.ts';
import type { SessionName, StoredSession } from '../../chat/use-stored-session.ts';
import { useSessionRuns } from '../../runs/use-session-runs.ts';
import { useScope } from '../../server/viewer.ts';

/** Reads the messages about the outcomes of calls that wait for approval, which nobody in this view requested. */
export function useOutcomes(
  session: SessionName,
  turns: Turn[],
  { session: stored, readNew }: StoredSession,
): void {
  const mayRead = useScope('RUNS');
  const asked = turns.filter((turn) => !isOpen(turn) && turn.pieces.some(isWaiting)).length;
  useEffect(() => {
    if (mayRead && asked > 0) readNew();
  }, [mayRead, asked, readNew]);
  useSessionRuns(session, readNew, mayRead && stored?.waitsForApproval === true);
}

function isWaiting(piece: Piece): boolean {
  return piece.type === 'tool' && piece.status === 'WAITING';
}
