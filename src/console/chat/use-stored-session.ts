import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import {
  Conversation,
  type ConversationQuery,
  type ConversationQueryVariables,
  type Environment,
  ToolCallsOfRuns,
} from '../../generated/operations/console.ts';
import { ask } from '../server/operations.ts';
import type { Problem } from '../server/problem.ts';
import { useScope } from '../server/viewer.ts';
import {
  type CallsByRun,
  type Fact,
  type StoredCall,
  type StoredMessage,
  turnsOf,
} from './stored-turns.ts';
import type { Turn } from './turn.ts';

/** Messages of one page. A turn has two of them, and two more for each round of tool calls. */
const PAGE = 50;

/** Runs that one request reads by their ids. */
const MAX_IDS = 100;

/** Names a session. */
export type SessionName = { botId: string; environment: Environment; sessionId: string };

type Found = NonNullable<NonNullable<ConversationQuery['bot']>['session']>;

/** The stored part of a session. */
export type StoredSession = {
  /** As it was read last; `null` if it does not exist; absent before it is read. */
  session: Pick<Found, 'id' | 'turns' | 'lastSeenAt' | 'waitsForApproval'> | null | undefined;
  turns: Turn[];
  facts: Fact[];
  isReading: boolean;
  problem: Problem | undefined;
  /** Whether turns before these are stored. */
  hasMore: boolean;
  /** Reads the turns before these, or again after a problem. */
  readMore(): void;
  /** Reads the turns after these, and the facts. */
  readNew(): void;
  /** Reads the facts again. */
  readFacts(): void;
};

type Page = Pick<ConversationQueryVariables, 'first' | 'after' | 'last' | 'before'>;

/** The messages that were read, and the cursors around them. */
type Read = {
  /** The key of their session. A session that was forgotten and begun again has another one. */
  key: string | undefined;
  messages: StoredMessage[];
  before: string | null;
  after: string | null;
};

const NO_CALLS: CallsByRun = new Map();
const NOTHING: Read = { key: undefined, messages: [], before: null, after: null };

/**
 * Reads the stored messages of a session once, the latest first, and more on demand. A key without the scope RUNS reads
 * nothing.
 *
 * @param isNew whether there is nothing to read, or not yet.
 */
export function useStoredSession(name: SessionName, isNew = false): StoredSession {
  const { botId, environment, sessionId } = name;
  const mayRead = useScope('RUNS');
  const [session, setSession] = useState<StoredSession['session']>();
  const [facts, setFacts] = useState<Fact[]>([]);
  const [{ messages, before }, setRead] = useState(NOTHING);
  const latest = useRef(NOTHING);
  const [calls, setCalls] = useState<CallsByRun>(NO_CALLS);
  const latestCalls = useRef(NO_CALLS);
  const [state, setState] = useState<{ isReading: boolean; problem?: Problem | undefined }>({
    isReading: false,
  });
  const isCurrent = useRef(true);
  // The view of the playground already shows messages that are sent after that.
  const hasRead = useRef(false);

  // One reading at a time, because each continues where the one before it ended.
  const queue = useRef(Promise.resolve());
  const enqueue = useCallback((work: () => Promise<unknown>) => {
    queue.current = queue.current.then(async () => {
      if (isCurrent.current) await work();
    });
  }, []);
  const put = useCallback((read: Read) => {
    latest.current = read;
    setRead(read);
  }, []);
  /** Reads the records of the calls that messages answer, and of those whose outcome was open. */
  const readCalls = useCallback(async (found: Found) => {
    const answers = found.messages.edges.filter(({ node }) => node.role === 'TOOL');
    const open = [...latestCalls.current].filter(([, ofRun]) => ofRun.some(isUnsettled));
    const runIds = [...answers.map(({ node }) => node.run.id), ...open.map(([id]) => id)];
    const ids = [...new Set(runIds)].slice(0, MAX_IDS);
    if (ids.length === 0) return;
    const { data } = await ask(ToolCallsOfRuns, { ids });
    if (!data || !isCurrent.current) return;
    const read = data.nodes.flatMap((node): [string, readonly StoredCall[]][] =>
      node && 'toolCalls' in node ? [[node.id, node.toolCalls]] : [],
    );
    latestCalls.current = new Map([...latestCalls.current, ...read]);
    setCalls(latestCalls.current);
  }, []);
  const read = useCallback(
    async (page: Page) => {
      const variables = { botId, environment, sessionId, ...page };
      const { data, problem } = await ask(Conversation, variables);
      if (!isCurrent.current) return undefined;
      setState({ isReading: false, problem });
      if (!data) return undefined;
      const found = data.bot?.session ?? null;
      setSession(found);
      setFacts(found?.memory ?? []);
      if (!found) put(NOTHING);
      else await readCalls(found);
      return found ?? undefined;
    },
    [botId, environment, sessionId, put, readCalls],
  );
  const readPage = useCallback(
    async (cursor: string | null) => {
      setState({ isReading: true });
      const found = await read({ last: PAGE, before: cursor });
      if (!found) return;
      const { edges, pageInfo } = found.messages;
      const later = cursor === null ? NOTHING : latest.current;
      put({
        key: found.id,
        messages: merged(
          edges.map(({ node }) => node),
          later.messages,
        ),
        before: pageInfo.hasPreviousPage ? (pageInfo.startCursor ?? null) : null,
        after: later.after ?? pageInfo.endCursor ?? null,
      });
    },
    [read, put],
  );
  const readNew = useCallback(async () => {
    for (let hasNext = true; hasNext; ) {
      const { key, after } = latest.current;
      if (after === null) return readPage(null);
      const found = await read({ first: PAGE, after });
      if (!found) return;
      if (found.id !== key) return readPage(null);
      const { edges, pageInfo } = found.messages;
      put({
        ...latest.current,
        messages: merged(
          latest.current.messages,
          edges.map(({ node }) => node),
        ),
        after: pageInfo.endCursor ?? after,
      });
      hasNext = pageInfo.hasNextPage;
    }
  }, [read, readPage, put]);
  useEffect(() => {
    isCurrent.current = true;
    if (mayRead && !isNew && !hasRead.current) {
      hasRead.current = true;
      enqueue(() => readPage(null));
    }
    return () => {
      isCurrent.current = false;
    };
  }, [mayRead, isNew, readPage, enqueue]);

  const turns = useMemo(() => turnsOf(messages, calls), [messages, calls]);
  return {
    session,
    turns,
    facts,
    ...state,
    problem: state.problem,
    hasMore: before !== null,
    readMore: () => enqueue(() => readPage(latest.current.before)),
    readNew: useCallback(() => enqueue(readNew), [enqueue, readNew]),
    readFacts: useCallback(() => {
      if (mayRead) enqueue(() => read({ last: 0 }));
    }, [mayRead, enqueue, read]),
  };
}

/** Whether the outcome of a call may still come. */
function isUnsettled({ status }: StoredCall): boolean {
  return status === 'WAITING' || status === 'RUNNING';
}

function merged(first: StoredMessage[], then: StoredMessage[]): StoredMessage[] {
  const ids = new Set(first.map(({ id }) => id));
  return [...first, ...then.filter(({ id }) => !ids.has(id))];
}
