import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Conversation, type ConversationQuery } from '../../../operations/console/operations.ts';
import type { Turn } from '../../chat/turn.ts';
import { ask } from '../../server/operations.ts';
import type { Problem } from '../../server/problem.ts';
import { useScope } from '../../server/viewer.ts';
import type { EnvironmentName } from './use-parameters.ts';

type StoredSession = NonNullable<NonNullable<ConversationQuery['bot']>['session']>;
type StoredMessage = StoredSession['messages']['edges'][number]['node'];
export type Fact = StoredSession['memory'][number];

/** Messages of one page. A turn has two of them, and two more for each round of tool calls. */
const PAGE = 50;

/** What is stored of a conversation from before this view. */
export type Earlier = {
  turns: Turn[];
  facts: Fact[];
  isReading: boolean;
  problem: Problem | undefined;
  /** Whether turns before these are stored. */
  hasMore: boolean;
  /** Reads the turns before these, or again after a problem. */
  readMore(): void;
  /** Reads the facts again. */
  readFacts(): void;
};

type Session = { botId: string; environment: EnvironmentName; sessionId: string };

/**
 * Reads the stored messages of a session once, the latest first. A key without the scope RUNS reads nothing.
 *
 * @param isNew whether there is nothing to read, or not yet.
 */
export function useEarlier(session: Session, isNew: boolean): Earlier {
  const { botId, environment, sessionId } = session;
  const mayRead = useScope('RUNS');
  const [messages, setMessages] = useState<StoredMessage[]>([]);
  const [facts, setFacts] = useState<Fact[]>([]);
  const [before, setBefore] = useState<string | null>(null);
  const [state, setState] = useState<{ isReading: boolean; problem?: Problem | undefined }>({
    isReading: false,
  });
  const isCurrent = useRef(true);
  // What is sent from then on stands in this view already.
  const hasRead = useRef(false);

  const read = useCallback(
    async (last: number, cursor: string | null) => {
      const variables = { botId, environment, sessionId, last, before: cursor };
      const { data, problem } = await ask(Conversation, variables);
      if (!isCurrent.current) return undefined;
      setState({ isReading: false, problem });
      const found = data?.bot?.session;
      if (found) setFacts(found.memory);
      return found;
    },
    [botId, environment, sessionId],
  );
  const readPage = useCallback(
    async (cursor: string | null) => {
      setState({ isReading: true });
      const found = await read(PAGE, cursor);
      if (!found) return;
      const { edges, pageInfo } = found.messages;
      setBefore(pageInfo.hasPreviousPage ? (pageInfo.startCursor ?? null) : null);
      setMessages((later) => [...edges.map(({ node }) => node), ...later]);
    },
    [read],
  );
  useEffect(() => {
    isCurrent.current = true;
    if (mayRead && !isNew && !hasRead.current) {
      hasRead.current = true;
      void readPage(null);
    }
    return () => {
      isCurrent.current = false;
    };
  }, [mayRead, isNew, readPage]);

  const turns = useMemo(() => turnsOf(messages), [messages]);
  return {
    turns,
    facts,
    ...state,
    problem: state.problem,
    hasMore: before !== null,
    readMore: () => void readPage(before),
    readFacts: () => {
      if (mayRead) void read(0, null);
    },
  };
}

const STATES = {
  COMPLETED: 'done',
  FAILED: 'failed',
  CANCELLED: 'stopped',
  QUEUED: 'waiting',
  RUNNING: 'streaming',
} as const;

/** The turns of stored messages: each run is a turn. */
function turnsOf(messages: StoredMessage[]): Turn[] {
  return [...Map.groupBy(messages, ({ run }) => run.id).values()].flatMap((ofRun) => {
    const [first] = ofRun;
    if (!first) return [];
    const { run } = first;
    const user = ofRun.find(({ role }) => role === 'USER');
    const replies = ofRun.filter(
      ({ role, text }) => role === 'TOOL' || (role === 'ASSISTANT' && text),
    );
    // A stored result has no name. The run names its tools once each, in the order of their first calls.
    const calls = replies.filter(({ role }) => role === 'TOOL').length;
    const names = run.toolsCalled.length === calls ? [...run.toolsCalled] : [];
    return [
      {
        id: run.id,
        runId: run.id,
        message: user?.text ?? '',
        state: STATES[run.status],
        latencyMs: run.latencyMs ?? undefined,
        tokens: run.tokensUsed,
        pieces: replies.map(({ id, role, text }) =>
          role === 'TOOL'
            ? {
                type: 'tool' as const,
                callId: id,
                name: names.shift() ?? 'tool call',
                state: 'done' as const,
                from: 0,
              }
            : { type: 'text' as const, text, from: 0, to: 0 },
        ),
      },
    ];
  });
}
