import { useCallback, useEffect, useRef, useState } from 'react';
import {
  type Environment,
  Sessions,
  type SessionsQuery,
} from '../../../operations/console/operations.ts';
import { returns } from '../../server/connection.ts';
import { ask } from '../../server/operations.ts';
import type { Problem } from '../../server/problem.ts';
import { session } from '../../server/session.ts';
import { useStore } from '../../server/store.ts';

/** Sessions of one page. */
const PAGE = 30;

/** Characters of the last message that the list keeps. A row shows fewer. */
const EXCERPT = 200;

type Node = NonNullable<SessionsQuery['bot']>['sessions']['edges'][number]['node'];

export type ListedSession = Pick<Node, 'id' | 'sessionId' | 'turns' | 'lastSeenAt'> & {
  /** The beginning of the last message. Absent if none is stored. */
  excerpt: string | undefined;
};

export type SessionPages = {
  /** Absent before the first page is read. */
  sessions: ListedSession[] | undefined;
  isReading: boolean;
  problem: Problem | undefined;
  hasMore: boolean;
  /** Reads the next page, or again after a problem. */
  readMore(): void;
  /** Reads the list from its start. The rows stay until then. */
  readAgain(): void;
};

type State = {
  sessions?: ListedSession[];
  cursor: string | null;
  isReading: boolean;
  problem?: Problem | undefined;
};

const START: State = { cursor: null, isReading: true };

/** The sessions of a bot in one environment, the last used one first, page by page. */
export function useSessions(botId: string, environment: Environment): SessionPages {
  const [state, setState] = useState(START);
  const reading = useRef<AbortController>(undefined);
  const read = useCallback(
    async (after: string | null) => {
      reading.current?.abort();
      const controller = new AbortController();
      reading.current = controller;
      setState((before) => ({ ...before, isReading: true, problem: undefined }));
      const { data, problem } = await ask(Sessions, { botId, environment, first: PAGE, after });
      if (controller.signal.aborted) return;
      if (problem) return setState((before) => ({ ...before, isReading: false, problem }));
      if (!data.bot) return;
      const { edges, pageInfo } = data.bot.sessions;
      const page = edges.map(({ node }) => listed(node));
      setState(({ sessions = [] }) => ({
        sessions: after === null ? page : merged(sessions, page),
        cursor: pageInfo.hasNextPage ? (pageInfo.endCursor ?? null) : null,
        isReading: false,
      }));
    },
    [botId, environment],
  );
  const readAgain = useCallback(() => void read(null), [read]);
  const returned = useStore(returns);
  const isSignedIn = useStore(session) === 'open';
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is read again when the server is back
  useEffect(() => {
    if (!isSignedIn) return undefined;
    readAgain();
    return () => reading.current?.abort();
  }, [readAgain, returned, isSignedIn]);

  const { sessions, isReading, problem, cursor } = state;
  return {
    sessions,
    isReading,
    problem,
    hasMore: cursor !== null,
    readMore: () => void read(cursor),
    readAgain,
  };
}

function listed({ id, sessionId, turns, lastSeenAt, messages }: Node): ListedSession {
  const excerpt = messages.edges[0]?.node.text.slice(0, EXCERPT);
  return { id, sessionId, turns, lastSeenAt, excerpt };
}

/** A session that is used while the list is read moves to its start, and a page may have it again. */
function merged(first: ListedSession[], then: ListedSession[]): ListedSession[] {
  const ids = new Set(first.map(({ id }) => id));
  return [...first, ...then.filter(({ id }) => !ids.has(id))];
}
