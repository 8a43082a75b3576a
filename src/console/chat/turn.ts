import type { ToolCallStatus } from '../../generated/operations/console.ts';
import type { Given } from '../feedback/use-rating.ts';
import type { Call } from '../server/call.ts';
import type { ChatEvent } from '../server/chat-event.ts';
import { type Problem, problemIn } from '../server/problem.ts';
import type { Recording } from '../server/recording.ts';

/** A piece of a reply, in the order in which it arrived. Times are milliseconds since the message was sent. */
export type Piece =
  | { type: 'text'; text: string; from: number; to: number }
  | {
      type: 'tool';
      callId: string;
      name: string;
      /** What visitors see of the call. */
      label?: string | undefined;
      /** Absent for a stored call without a record. */
      status?: ToolCallStatus | undefined;
      from: number;
      /** How long the call took, once it is over and known. */
      ms?: number | undefined;
      /** The arguments from the model. Absent for a key without the scope RUNS, and once they are deleted. */
      input?: unknown;
      /** What the model got. Absent as `input` is, and while the call runs. */
      result?: string | undefined;
    };

/** A message and its reply. */
export type Turn = {
  id: string;
  /** The request. Absent for a turn of an earlier visit. */
  call?: Call;
  /** The requests behind the reply. Absent for a turn of an earlier visit, and for one long past. */
  recording?: Recording | undefined;
  message: string;
  /** The notice of the server to the model, in place of a message. */
  notice?: string | undefined;
  /** When the run was requested, as an ISO 8601 time. Absent for a turn of this visit. */
  createdAt?: string;
  pieces: Piece[];
  state: 'waiting' | 'streaming' | 'done' | 'failed' | 'stopped';
  runId?: string;
  /** The ratings that were stored when the turn was read. */
  feedback?: Given[];
  /** The session that the server named or confirmed. */
  sessionId?: string | undefined;
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

const ENDS = { failed: 'failed', cancelled: 'stopped' } as const;

/** Adds an event to a turn. @param ms milliseconds since the message was sent. */
export function withEvent(turn: Turn, event: ChatEvent, ms: number): Turn {
  switch (event.type) {
    case 'run_started': {
      // A new attempt discards the text before it.
      const { runId, sessionId } = event;
      const startedMs = turn.startedMs ?? ms;
      return {
        ...turn,
        state: 'streaming',
        runId,
        sessionId: sessionId ?? undefined,
        startedMs,
        pieces: [],
      };
    }
    case 'text':
      return {
        ...turn,
        firstMs: turn.firstMs ?? ms,
        pieces: withText(turn.pieces, event.delta, ms),
      };
    case 'tool_started': {
      const { callId, name, label, arguments: input } = event;
      const piece: Piece = {
        type: 'tool',
        callId,
        name,
        label: label ?? undefined,
        status: 'RUNNING',
        from: ms,
        input,
      };
      return { ...turn, pieces: [...turn.pieces, piece] };
    }
    case 'tool_finished': {
      const { failed, durationMs, result } = event;
      const status = event.status ?? (failed ? 'FAILED' : 'COMPLETED');
      const end = { status, ms: durationMs, result: result ?? undefined };
      const isIt = (piece: Piece) => piece.type === 'tool' && piece.callId === event.callId;
      return {
        ...turn,
        pieces: turn.pieces.map((piece) => (isIt(piece) ? { ...piece, ...end } : piece)),
      };
    }
    case 'done': {
      const { status, latencyMs, tokensUsed: tokens, error } = event;
      const state = status ? ENDS[status] : 'done';
      const problem = error && {
        ...problemIn(error, error.message),
        requestId: error.requestId,
      };
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

/** A tool call of a reply. */
export type Tool = Extract<Piece, { type: 'tool' }>;
/** Text, or tool calls that follow one another. */
export type PieceGroup = string | Tool[];

/** The pieces of a reply, with the tool calls that follow one another in one group. */
export function grouped(pieces: Piece[]): PieceGroup[] {
  const groups: PieceGroup[] = [];
  for (const piece of pieces) {
    const last = groups.at(-1);
    if (piece.type === 'text') groups.push(piece.text);
    else if (Array.isArray(last)) last.push(piece);
    else groups.push([piece]);
  }
  return groups;
}
