import { useCallback, useEffect, useRef, useState } from 'react';
import { type ChatSubscriptionVariables, StopRun } from '../../operations/console/operations.ts';
import { type ChatEvent, ChatProblem, streamChat } from '../server/chat.ts';
import { mutate } from '../server/operations.ts';
import { type Turn, withEvent } from './turn.ts';

type Input = ChatSubscriptionVariables['input'];

/** A conversation with a bot in this tab. */
export type Chat = {
  turns: Turn[];
  isBusy: boolean;
  send(input: Input): Promise<void>;
  /** Cancels the run of the last turn. What it has said stays. */
  stop(): Promise<void>;
  /** Begins a new conversation. */
  clear(): void;
};

export function useChat(botId: string): Chat {
  const [turns, setTurns] = useState<Turn[]>([]);
  const aborter = useRef<AbortController>(undefined);
  const lastId = useRef(0);

  useEffect(() => () => aborter.current?.abort(), []);

  const update = useCallback((id: number, change: (turn: Turn) => Turn) => {
    setTurns((all) => all.map((turn) => (turn.id === id ? change(turn) : turn)));
  }, []);

  const send = async (input: Input) => {
    const controller = new AbortController();
    aborter.current = controller;
    lastId.current += 1;
    const id = lastId.current;
    const startedAt = performance.now();
    setTurns((all) => [...all, { id, message: input.message, pieces: [], state: 'waiting' }]);
    const painter = createPainter((events) => {
      const sinceStart = Math.round(performance.now() - startedAt);
      update(id, (turn) =>
        events.reduce((next, event) => withEvent(next, event, sinceStart), turn),
      );
    });
    try {
      for await (const event of streamChat({ botId, input }, controller.signal)) painter.add(event);
    } catch (error) {
      if (!(error instanceof ChatProblem)) throw error;
      painter.flush();
      update(id, (turn) => ({ ...turn, state: 'failed', problem: error.problem }));
    } finally {
      painter.flush();
    }
  };

  const last = turns.at(-1);
  const isBusy = last?.state === 'waiting' || last?.state === 'streaming';
  return {
    turns,
    isBusy,
    send,
    async stop() {
      if (last?.runId) await mutate(StopRun, { id: last.runId });
    },
    clear() {
      aborter.current?.abort();
      setTurns([]);
    },
  };
}

/** Collects events and applies them once a frame, because a stream has more events than a screen has frames. */
function createPainter(apply: (events: ChatEvent[]) => void) {
  let waiting: ChatEvent[] = [];
  let frame: number | undefined;
  const flush = () => {
    if (frame !== undefined) cancelAnimationFrame(frame);
    frame = undefined;
    if (waiting.length === 0) return;
    const events = waiting;
    waiting = [];
    apply(events);
  };
  return {
    flush,
    add(event: ChatEvent) {
      waiting.push(event);
      frame ??= requestAnimationFrame(flush);
    },
  };
}
