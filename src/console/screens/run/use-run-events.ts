import { useEffect, useState } from 'react';
import { type Turn, withEvent } from '../../chat/turn.ts';
import type { ChatEvent } from '../../server/chat-event.ts';
import { ChatProblem } from '../../server/chat-problem.ts';
import { serverNow } from '../../server/clock.ts';
import type { Problem } from '../../server/problem.ts';
import { session } from '../../server/session.ts';
import { useStore } from '../../server/store.ts';
import { followRun } from '../../server/stream-chat.ts';

/** An event with the server's time at which it arrived, in milliseconds since the epoch. */
type ArrivedEvent = { event: ChatEvent; at: number };

export type RunEvents = {
  events: ArrivedEvent[];
  /** The turn that the events received so far make. */
  turn: Turn;
  problem: Problem | undefined;
  /** Whether the last event has arrived. */
  isOver: boolean;
};

const NOTHING: RunEvents = {
  events: [],
  turn: { id: '', message: '', pieces: [], state: 'waiting' },
  problem: undefined,
  isOver: false,
};

/**
 * Reads the events of a run from the first one, and follows it until it ends.
 *
 * @param createdAt the time of the request, in milliseconds since the epoch.
 * @param isWanted whether to read. Events already read stay.
 */
export function useRunEvents(runId: string, createdAt: number, isWanted: boolean): RunEvents {
  const [state, setState] = useState(NOTHING);
  const isSignedIn = useStore(session) === 'open';
  useEffect(() => {
    if (!isWanted || !isSignedIn) return undefined;
    const controller = new AbortController();
    setState(NOTHING);
    void read(runId, createdAt, controller.signal, (change) => {
      if (!controller.signal.aborted) setState(change);
    });
    return () => controller.abort();
  }, [runId, createdAt, isWanted, isSignedIn]);
  return state;
}

/** Applies events once a frame, because a stream has more events than a screen has frames. */
async function read(
  runId: string,
  createdAt: number,
  signal: AbortSignal,
  update: (change: (before: RunEvents) => RunEvents) => void,
): Promise<void> {
  let waiting: ArrivedEvent[] = [];
  const flush = () => {
    const arrived = waiting;
    waiting = [];
    if (arrived.length > 0) update((before) => withEvents(before, arrived, createdAt));
  };
  try {
    for await (const event of followRun(runId, { signal })) {
      if (waiting.push({ event, at: serverNow() }) === 1) requestAnimationFrame(flush);
    }
    flush();
    update((before) => ({ ...before, isOver: true }));
  } catch (error) {
    flush();
    if (!(error instanceof ChatProblem)) throw error;
    const { problem } = error;
    update((before) => ({ ...before, problem }));
  }
}

function withEvents(before: RunEvents, arrived: ArrivedEvent[], createdAt: number): RunEvents {
  const turn = arrived.reduce(
    (next, { event, at }) => withEvent(next, event, Math.max(0, at - createdAt)),
    before.turn,
  );
  return { ...before, events: [...before.events, ...arrived], turn };
}
