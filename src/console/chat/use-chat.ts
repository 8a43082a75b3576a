import { useCallback, useEffect, useRef, useState } from 'react';
import { toast } from '../parts/toast.tsx';
import { randomId } from '../random-id.ts';
import type { Call } from '../server/call.ts';
import { ChatProblem } from '../server/chat-problem.ts';
import { isSessionEnd, type Problem } from '../server/problem.ts';
import { createRecording } from '../server/recording.ts';
import { type Sending, send as sendCall } from '../server/send.ts';
import { createPainter } from './painter.ts';
import { isOpen, type Turn, withEvent } from './turn.ts';

/** Turns whose requests are kept for inspection, so that a long conversation takes no more memory than its text. */
const KEPT_RECORDINGS = 20;

/** A conversation with a bot in this tab. */
export type Chat = {
  turns: Turn[];
  isBusy: boolean;
  /** @returns the problem if the session had ended, so that nothing was sent. */
  send(call: Call): Promise<Problem | undefined>;
  /** Cancels the run of the last turn. The text that has arrived stays. */
  stop(): Promise<void>;
};

export function useChat(): Chat {
  const [turns, setTurns] = useState<Turn[]>([]);
  const aborter = useRef<AbortController>(undefined);
  const sending = useRef<Sending>(undefined);

  useEffect(() => () => aborter.current?.abort(), []);

  const update = useCallback((id: string, change: (turn: Turn) => Turn) => {
    setTurns((all) => all.map((turn) => (turn.id === id ? change(turn) : turn)));
  }, []);

  const send = async (call: Call) => {
    const controller = new AbortController();
    aborter.current = controller;
    const { signal } = controller;
    const recording = createRecording();
    const id = randomId();
    const sentAt = performance.now();
    const { message } = call;
    setTurns((all) => [
      ...withoutOldRecordings(all),
      { id, call, recording, message, pieces: [], state: 'waiting', sentAt },
    ]);
    const painter = createPainter((events) => {
      update(id, (turn) =>
        events.reduce((next, { event, ms }) => withEvent(next, event, ms), turn),
      );
    });
    const current = sendCall(call, { signal, fetch: recording.fetch });
    sending.current = current;
    let isStarted = false;
    try {
      for await (const event of current.events) {
        isStarted = true;
        painter.add({ event, ms: Math.round(performance.now() - sentAt) });
      }
    } catch (error) {
      if (!(error instanceof ChatProblem)) throw error;
      const { problem } = error;
      painter.flush();
      if (!isStarted && call.protocol === 'graphql' && isSessionEnd(problem)) {
        setTurns((all) => all.filter((turn) => turn.id !== id));
        return problem;
      }
      update(id, (turn) => ({
        ...turn,
        state: 'failed',
        problem,
        runId: turn.runId ?? problem.runId,
      }));
    } finally {
      painter.flush();
      update(id, (turn) => (isOpen(turn) ? { ...turn, state: 'stopped' } : turn));
    }
    return undefined;
  };

  const last = turns.at(-1);
  return {
    turns,
    isBusy: last !== undefined && isOpen(last),
    send,
    async stop() {
      // A request for a whole reply names no run. The server cancels the run when its client disconnects.
      if (!last?.runId) return aborter.current?.abort();
      const problem = await sending.current?.cancel(last.runId);
      if (problem) toast(problem.message);
    },
  };
}

function withoutOldRecordings(turns: Turn[]): Turn[] {
  const first = turns.length - KEPT_RECORDINGS;
  return turns.map((turn, at) =>
    at < first && turn.recording ? { ...turn, recording: undefined } : turn,
  );
}
