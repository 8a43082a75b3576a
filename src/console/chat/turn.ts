import type { ChatEvent } from '../server/chat.ts';
import type { Problem } from '../server/problem.ts';

/** A piece of a reply, in the order in which it arrived. */
export type Piece =
  | { type: 'text'; text: string }
  | {
      type: 'tool';
      callId: string;
      name: string;
      state: 'running' | 'done' | 'failed';
      ms?: number;
    };

/** A message and its reply. */
export type Turn = {
  id: number;
  message: string;
  pieces: Piece[];
  state: 'waiting' | 'streaming' | 'done' | 'failed' | 'stopped';
  runId?: string;
  problem?: Problem;
  /** Milliseconds from the message to the first text. */
  firstMs?: number;
  latencyMs?: number;
  tokens?: number;
};

/** Adds an event to a turn. @param sinceStart milliseconds since the message was sent. */
export function withEvent(turn: Turn, event: ChatEvent, sinceStart: number): Turn {
  switch (event.__typename) {
    case 'RunStarted':
      // A new attempt discards the text before it.
      return { ...turn, state: 'streaming', runId: event.runId, pieces: [] };
    case 'TextDelta':
      return {
        ...turn,
        firstMs: turn.firstMs ?? sinceStart,
        pieces: withText(turn.pieces, event.delta),
      };
    case 'ToolStarted': {
      const { callId, name } = event;
      return {
        ...turn,
        pieces: [...turn.pieces, { type: 'tool', callId, name, state: 'running' }],
      };
    }
    case 'ToolFinished': {
      const end = { state: event.failed ? 'failed' : 'done', ms: event.durationMs } as const;
      const isIt = (piece: Piece) => piece.type === 'tool' && piece.callId === event.callId;
      return {
        ...turn,
        pieces: turn.pieces.map((piece) => (isIt(piece) ? { ...piece, ...end } : piece)),
      };
    }
    case 'ChatDone':
      return { ...turn, state: 'done', latencyMs: event.latencyMs, tokens: event.tokensUsed };
    case 'ChatCancelled':
      return { ...turn, state: 'stopped', latencyMs: event.latencyMs, tokens: event.tokensUsed };
    case 'ChatFailed': {
      const problem = { code: event.code, message: event.message, details: [] };
      return { ...turn, state: 'failed', latencyMs: event.latencyMs, problem };
    }
  }
}

function withText(pieces: Piece[], delta: string): Piece[] {
  const last = pieces.at(-1);
  if (last?.type !== 'text') return [...pieces, { type: 'text', text: delta }];
  return [...pieces.slice(0, -1), { type: 'text', text: last.text + delta }];
}
