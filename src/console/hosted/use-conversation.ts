import { useCallback, useEffect, useRef, useState } from 'react';
import { ForgetVisit, VisitSession } from '../../generated/operations/console.ts';
import { createPainter } from '../chat/painter.ts';
import { isOpen, type Turn, withEvent } from '../chat/turn.ts';
import { randomId } from '../random-id.ts';
import { chatProblem } from '../server/chat-problem.ts';
import { connection } from '../server/connection.ts';
import { AWAY, type Problem } from '../server/problem.ts';
import { useStore } from '../server/store.ts';
import { readHistory } from './history.ts';
import { useOtherTabs } from './other-tabs.ts';
import { cancelReply, followMessage, type Reply, readReply, sendMessage } from './reply.ts';
import { useApproval } from './use-approval.ts';
import type { Visit } from './visit.ts';

/** The visitor's conversation with the bot. */
export type Conversation = {
  turns: Turn[];
  isBusy: boolean;
  /** Whether the earlier conversation is being read. */
  isLoading: boolean;
  /** Whether a tool call waits for the approval of a person. */
  isWaiting: boolean;
  /** Why the last request besides a message failed. */
  problem: Problem | undefined;
  send(message: string): Promise<void>;
  /** Sends the message of a failed turn again. A run that goes on is joined. */
  retry(turn: Turn): Promise<void>;
  /** Ends the reply that this tab reads. */
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

export function useConversation(bot: string, visit: Visit): Conversation {
  const [turns, setTurns] = useState<Turn[]>([]);
  const [isLoading, setLoading] = useState(visit.hasHistory);
  const [before, setBefore] = useState<string>();
  const [problem, setProblem] = useState<Problem>();
  const reading = useRef<Reply>(undefined);
  /** Whether the conversation changed in another tab while this one reads a reply. */
  const isStale = useRef(false);
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
      setProblem(chatProblem(error).problem);
      return false;
    }
  };

  /** Reads a reply into its turn. */
  const read = async (reply: Reply) => {
    const { id, aborter } = reply;
    reading.current = reply;
    const painter = createPainter((events) =>
      update(id, (turn) =>
        events.reduce((next, { event, ms }) => withEvent(next, event, ms), turn),
      ),
    );
    let hasTools = false;
    const failure = await readReply(reply, visit, (event) => {
      hasTools ||= event.type === 'tool_finished';
      painter.add({ event, ms: 0 });
    }).finally(painter.flush);
    if (failure) update(id, (turn) => ({ ...turn, state: 'failed', problem: failure }));
    if (!aborter.signal.aborted) {
      tabs.announce('changed');
      if (hasTools) void approval.check();
    }
    if (!isStale.current) return;
    isStale.current = false;
    void load();
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: the bot and the visit never change
  const load = useCallback(
    (position?: string) =>
      attempt(async () => {
        const ended = endedIn(latest.current);
        const history = await readHistory(visit, bot, position);
        // The server may have read the history before a reply that ended meanwhile.
        if (!position && [...endedIn(latest.current)].some((id) => !ended.has(id)))
          return void (await load());
        const unstored = position ? [] : unstoredOf(latest.current);
        setTurns((all) => [...history.turns, ...(position ? all : unstored)]);
        setBefore(history.before);
        if (position) return;
        approval.setWaitingIn(history.waitingIn);
        const open = visit.kept.open(history.at);
        if (!open) return;
        if (unstored.some(isOpen)) {
          isStale.current ||= open.id !== reading.current?.id;
          return;
        }
        const { id, message } = open;
        setTurns((all) => [...all, { id, message, pieces: [], state: 'waiting' }]);
        void read(followMessage(visit, open));
      }),
    [],
  );

  /** Reads the conversation again, after the reply that this tab reads. */
  const refresh = () => {
    const now = latest.current.at(-1);
    isStale.current = now !== undefined && isOpen(now);
    if (!isStale.current) void load();
  };

  const approval = useApproval(bot, visit, refresh);
  const tabs = useOtherTabs(bot, {
    onChange: refresh,
    onReset: () => {
      reset();
    },
  });

  const reset = () => {
    reading.current?.aborter.abort();
    isStale.current = false;
    visit.renew();
    approval.setWaitingIn(undefined);
    setTurns([]);
    setBefore(undefined);
    setProblem(undefined);
  };

  /** @param failed the turn of the same message, to send it again. */
  const send = async (message: string, failed?: Turn) => {
    const id = failed?.id ?? randomId();
    visit.kept.setUnsent(message);
    setProblem(undefined);
    setTurns((all) => [
      ...all.filter((turn) => turn.id !== id),
      { id, message, pieces: [], state: 'waiting' },
    ]);
    await read(sendMessage(visit, bot, { id, message, announced: failed?.runId }));
  };

  // The message is sent again with its key, so that it begins one run, also if the request before has begun one.
  const { isAway } = useStore(connection);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each return of the server
  useEffect(() => {
    if (!isAway && last?.problem?.code === AWAY.code) void send(last.message, last);
  }, [isAway]);

  useEffect(() => {
    if (visit.hasHistory()) void load().then(() => setLoading(false));
    return () => reading.current?.aborter.abort();
  }, [load, visit]);

  return {
    turns,
    isBusy,
    isLoading,
    isWaiting: approval.isWaiting,
    problem,
    send: (message) => send(message),
    retry: (failed) => send(failed.message, failed),
    async stop() {
      const reply = reading.current;
      if (!reply) return;
      if (reply.runId === undefined) update(reply.id, (turn) => ({ ...turn, state: 'stopped' }));
      await attempt(async () => {
        const runId = await cancelReply(visit, bot, reply);
        if (runId !== undefined) update(reply.id, (turn) => ({ ...turn, runId }));
      });
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

function endedIn(turns: Turn[]): Set<string> {
  return new Set(turns.filter((turn) => !isOpen(turn)).map(({ id }) => id));
}

/** The last turns, which are not in the history: it has whole and stopped runs. */
function unstoredOf(turns: Turn[]): Turn[] {
  const isStored = ({ state, runId }: Turn) =>
    state === 'done' || (state === 'stopped' && runId !== undefined);
  return turns.slice(turns.findLastIndex(isStored) + 1);
}
