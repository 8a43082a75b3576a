import { useCallback, useEffect, useRef, useState } from 'react';
import {
  Deployments,
  type DeploymentsQuery,
  type ListedDeploymentFragment,
} from '../../../operations/console/operations.ts';
import { useDeploymentChanges } from '../../deploy/use-deployment-changes.ts';
import { returns } from '../../server/connection.ts';
import { ask } from '../../server/operations.ts';
import type { Problem } from '../../server/problem.ts';
import { session } from '../../server/session.ts';
import { useStore } from '../../server/store.ts';
import type { DeploymentFilter } from './filter.ts';

/** Deployments of one page. */
const PAGE = 30;

export type ListedDeployment = ListedDeploymentFragment;

export type DeploymentPages = {
  /** The name of the bot. Absent until the first page is there. */
  botName: string | undefined;
  deployments: ListedDeployment[];
  /** Ids of the deployments that run now. */
  running: ReadonlySet<string>;
  isReading: boolean;
  hasMore: boolean;
  problem: Problem | undefined;
  readMore(): void;
  /** Reads the list from its start. What shows stays until then. */
  readAgain(): void;
};

type State = Omit<DeploymentPages, 'readMore' | 'readAgain'> & { cursor: string | null };

const START: State = {
  botName: undefined,
  deployments: [],
  running: new Set(),
  isReading: true,
  hasMore: false,
  problem: undefined,
  cursor: null,
};

/** The deployments of a bot that match a filter, newest first, page by page. It follows their changes. */
export function useDeployments(botId: string, { environment, status }: DeploymentFilter) {
  const [state, setState] = useState(START);
  const reading = useRef<AbortController>(undefined);
  const read = useCallback(
    async (after: string | null) => {
      reading.current?.abort();
      const controller = new AbortController();
      reading.current = controller;
      setState((before) => ({ ...before, isReading: true, problem: undefined }));
      const variables = { botId, first: PAGE, after, environment, status };
      const { data, problem } = await ask(Deployments, variables);
      if (controller.signal.aborted) return;
      const bot = data?.bot;
      if (bot) setState((before) => withPage(before, bot, after));
      else setState((before) => ({ ...before, isReading: false, problem }));
    },
    [botId, environment, status],
  );
  const returned = useStore(returns);
  const isSignedIn = useStore(session) === 'open';
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is read again when the server is back
  useEffect(() => {
    if (!isSignedIn) return undefined;
    void read(null);
    return () => reading.current?.abort();
  }, [read, returned, isSignedIn]);
  const readAgain = useCallback(() => void read(null), [read]);
  useDeploymentChanges(botId, readAgain);
  const { cursor, ...pages } = state;
  return { ...pages, readMore: () => void read(cursor), readAgain };
}

/** Adds a page at the end; or puts the first page at the start of the list, if it reaches what the list has. */
function withPage(
  before: State,
  { name, production, staging, deployments }: NonNullable<DeploymentsQuery['bot']>,
  after: string | null,
): State {
  const page = deployments.edges.map(({ node }) => node);
  const { hasNextPage: hasMore, endCursor } = deployments.pageInfo;
  const ids = new Set(page.map(({ id }) => id));
  const others = before.deployments.filter(({ id }) => !ids.has(id));
  const isJoined = others.length < before.deployments.length && hasMore;
  const state = {
    ...before,
    botName: name,
    running: new Set([production, staging].flatMap((one) => one?.id ?? [])),
    isReading: false,
    problem: undefined,
  };
  const end = { hasMore, cursor: endCursor ?? null };
  if (after !== null) return { ...state, deployments: [...others, ...page], ...end };
  // The list goes on where its last page ended.
  if (isJoined && others.length > 0) return { ...state, deployments: [...page, ...others] };
  return { ...state, deployments: page, ...end };
}
