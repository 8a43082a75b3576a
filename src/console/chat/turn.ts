import type { Call, Step } from '../server/call.ts';
import type { Problem } from '../server/problem.ts';
import type { Recording } from '../server/recording.ts';

/** A piece of a reply, in the order in which it arrived. Times are milliseconds since the message was sent. */
export type Piece =
  | { type: 'text'; text: string; from: number; to: number }
  | {
      type: 'tool';
      callId: string;
      name: string;
      state: 'running' | 'done' | 'failed';
      from: number;
      /** How long the call took, once it is over and known. */
      ms?: number | undefined;
    };

/** A message and its reply. */
export type Turn = {
  id: string;
  /** What was sent. Absent for a turn of an earlier visit. */
  call?: Call;
  /** The requests behind the reply. Absent for a turn of an earlier visit, and for one long past. */
  recording?: Recording | undefined;
  message: string;
  pieces: Piece[];
  state: 'waiting' | 'streaming' | 'done' | 'failed' | 'stopped';
  runId?: string;
  problem?: Problem | undefined;
  /** When the message was sent, in milliseconds of `performance.now()`. */
  sentAt?: number;
  /** Milliseconds until the run started, and until the first text. */
  startedMs?: number;
  firstMs?: number;
  latencyMs?: number | undefined;
  tokens?: number | undefined;
};

/** Whether the reply is not over. */
export function isOpen({ state }: Turn): boolean {
  return state === 'waiting' || state === 'streaming';
}

/** Adds a step to a turn. @param ms milliseconds since the message was sent. */
export function withStep(turn: Turn, step: Step, ms: number): Turn {
  switch (step.type) {
    case 'started': {
      // A new attempt discards the text before it.
      const { runId } = step;
      return { ...turn, state: 'streaming', runId, startedMs: turn.startedMs ?? ms, pieces: [] };
    }
    case 'text':
      return {
        ...turn,
        firstMs: turn.firstMs ?? ms,
        pieces: withText(turn.pieces, step.text, ms),
      };
    case 'tool-started': {
      const { callId, name } = step;
      return {
        ...turn,
        pieces: [...turn.pieces, { type: 'tool', callId, name, state: 'running', from: ms }],
      };
    }
    case 'tool-finished': {
      const end = { state: step.failed ? 'failed' : 'done', ms: step.durationMs } as const;
      const isIt = (piece: Piece) => piece.type === 'tool' && piece.callId === step.callId;
      return {
        ...turn,
        pieces: turn.pieces.map((piece) => (isIt(piece) ? { ...piece, ...end } : piece)),
      };
    }
    case 'ended': {
      const { state, latencyMs, tokens, problem } = step;
      return { ...turn, state, latencyMs, tokens, problem };
    }
  }
}

function withText(pieces: Piece[], text: string, ms: number): Piece[] {
  const last = pieces.at(-1);
  if (last?.type !== 'text') return [...pieces, { type: 'text', text, from: ms, to: ms }];
  return [...pieces.slice(0, -1), { ...last, text: last.text + text, to: ms }];
}

/** The text of a reply. */
export function textOf({ pieces }: Turn): string {
  return pieces.map((piece) => (piece.type === 'text' ? piece.text : '')).join('');
}
