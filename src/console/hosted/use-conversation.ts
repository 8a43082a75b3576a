import { useCallback, useEffect, useRef, useState } from 'react';
import { ForgetVisit, StopRun, VisitSession } from '../../operations/console/operations.ts';
import { createPainter } from '../chat/painter.ts';
import { isOpen, type Turn, withStep } from '../chat/turn.ts';
import { stepOf } from '../server/chat-step.ts';
import { isSessionEnd, type Problem } from '../server/problem.ts';
import { createRecording } from '../server/recording.ts';
import {
  type ChatEvent,
  ChatProblem,
  chatProblem,
  followRun,
  type Reading,
  streamChat,
} from '../server/stream-chat.ts';
import { embedding } from './embedding.ts';
import { readHistory } from './history.ts';
import { useOtherTabs } from './other-tabs.ts';
import type { Visit } from './visit.ts';

/** The visitor's conversation with the bot. */
export type Conversation = {
  turns: Turn[];
  isBusy: boolean;
  /** Whether the earlier conversation is being read. */
  isLoading: boolean;
  /** Why the last request besides a message failed. */
  problem: Problem | undefined;
  send(message: string): Promise<void>;
  /** Sends the message of a failed turn again. */
  retry(turn: Turn): Promise<void>;
  stop(): Promise<void>;
  /** Reads earlier messages. Absent if there are none. */
  readEarlier: (() => Promise<void>) | undefined;
  /** Reads the conversation again after a failure. */
  reload(): Promise<void>;
  /** Begins another session. */
  startOver(): void;
  /** Deletes the session with its memory. */
  forget(): Promise<void>;
};

type Source = (reading: Reading) => AsyncGenerator<ChatEvent, void>;

export function useConversation(bot: string, visit: Visit): Conversation {
  const [turns, setTurns] = useState<Turn[]>([]);
  const [isLoading, setLoading] = useState(visit.hasHistory);
  const [before, setBefore] = useState<string>();
  const [problem, setProblem] = useState<Problem>();
  const reading = useRef<AbortController>(undefined);
  const latest = useRef(turns);
  latest.current = turns;
  const last = turns.at(-1);
  const isBusy = last !== undefined && isOpen(last);

  const update = (id: string, change: (turn: Turn) => Turn) =>
    setTurns((all) => all.map((turn) => (turn.id === id ? change(turn) : turn)));

  /** Reports why something failed. @returns whether it succeeded. */
  const attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
    try {
      setProblem(undefined);
      await work();
      return true;
    } catch (error) {
      setProblem((await chatProblem(error)).problem);
      return false;
    }
  };

  /** Reads a reply into a turn. @returns the problem of a reply that could not begin. */
  const read = async (id: string, message: string, source: Source) => {
    const controller = new AbortController();
    reading.current = controller;
    const { signal } = controller;
    let runId: string | undefined;
    let text = '';
    const painter = createPainter((steps) =>
      update(id, (turn) => steps.reduce((next, { step, ms }) => withStep(next, step, ms), turn)),
    );
    try {
      const { headers } = visit;
      for await (const event of source({ signal, recording: createRecording(), headers })) {
        if (event.__typename === 'RunStarted') {
          ({ runId } = event);
          text = '';
          visit.kept.set({ open: { runId, message } });
        } else if (event.__typename === 'TextDelta') text += event.delta;
        painter.add({ step: stepOf(event), ms: 0 });
      }
      if (!signal.aborted) embedding.send({ type: 'message', role: 'assistant', text, runId });
    } catch (error) {
      if (!(error instanceof ChatProblem)) throw error;
      if (runId === undefined && isSessionEnd(error.problem)) return error.problem;
      painter.flush();
      update(id, (turn) => ({ ...turn, state: 'failed', problem: error.problem }));
    } finally {
      painter.flush();
    }
    // A page that closes keeps the run, to follow it when it opens again.
    if (!signal.aborted) visit.kept.set({ open: undefined });
    return undefined;
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: the bot and the visit never change
  const load = useCallback(
    (position?: string) =>
      attempt(async () => {
        const history = await readHistory(visit, bot, position);
        // A turn that began meanwhile is not in the history yet.
        const begun = position ? [] : latest.current.filter(isOpen);
        setTurns((all) => [...history.turns, ...(position ? all : begun)]);
        setBefore(history.before);
        const { open } = visit.kept.get();
        if (position || !open || begun.length > 0) return;
        const stored = history.turns.at(-1);
        if (stored?.message === open.message && stored.pieces.length > 0)
          return visit.kept.set({ open: undefined });
        const turn: Turn = { id: open.runId, message: open.message, pieces: [], state: 'waiting' };
        setTurns((all) => [...all, turn]);
        void read(turn.id, open.message, (how) => followRun(open.runId, how));
      }),
    [],
  );

  const tabs = useOtherTabs(bot, {
    onChange: () => {
      const now = latest.current.at(-1);
      if (!now || !isOpen(now)) void load();
    },
    onReset: () => {
      reset();
    },
  });

  const reset = () => {
    reading.current?.abort();
    visit.renew();
    setTurns([]);
    setBefore(undefined);
    setProblem(undefined);
  };

  const send = async (message: string) => {
    const id = crypto.randomUUID();
    setProblem(undefined);
    setTurns((all) => [...all, { id, message, pieces: [], state: 'waiting' }]);
    embedding.send({ type: 'message', role: 'user', text: message, runId: undefined });
    const source: Source = (how) => streamChat({ botId: bot, input: { message } }, how);
    let refusal = await read(id, message, source);
    if (refusal) {
      visit.renew();
      refusal = await read(id, message, source);
    }
    if (refusal) update(id, (turn) => ({ ...turn, state: 'failed', problem: refusal }));
    tabs.announce('changed');
  };

  useEffect(() => {
    if (visit.hasHistory()) void load().then(() => setLoading(false));
    return () => reading.current?.abort();
  }, [load, visit]);

  return {
    turns,
    isBusy,
    isLoading,
    problem,
    send,
    retry: (failed) => {
      setTurns((all) => all.filter(({ id }) => id !== failed.id));
      return send(failed.message);
    },
    async stop() {
      const { open } = visit.kept.get();
      if (open) await attempt(() => visit.ask(StopRun, { id: open.runId }));
    },
    readEarlier: before === undefined ? undefined : async () => void (await load(before)),
    reload: async () => void (await load()),
    startOver() {
      visit.kept.clear();
      reset();
      tabs.announce('reset');
    },
    async forget() {
      const isForgotten = await attempt(async () => {
        const { bot: found } = await visit.ask(VisitSession, { botId: bot });
        const sessionId = found?.session?.sessionId;
        if (sessionId) await visit.ask(ForgetVisit, { botId: bot, sessionId });
      });
      if (!isForgotten) return;
      visit.kept.clear();
      reset();
      tabs.announce('reset');
    },
  };
}
