import { useMemo } from 'react';
import {
  type Environment,
  Sessions,
  type SessionsQuery,
} from '../../../generated/operations/console.ts';
import { type Pages, usePages } from '../../server/use-pages.ts';

/** Sessions of one page. */
const PAGE = 30;

/** Characters of a text that the list keeps. A row shows fewer. */
const EXCERPT = 200;

type Node = NonNullable<SessionsQuery['bot']>['sessions']['edges'][number]['node'];

export type ListedSession = Pick<Node, 'id' | 'sessionId' | 'turns' | 'lastSeenAt' | 'lastRun'> & {
  /** The beginning of the last message. Absent if none is stored. */
  excerpt: string | undefined;
};

/** The sessions of a bot in one environment, the last used one first, page by page. */
export function useSessions(botId: string, environment: Environment): Pages<ListedSession> {
  const variables = useMemo(() => ({ botId, environment }), [botId, environment]);
  return usePages(Sessions, { size: PAGE, variables }, toPage);
}

function toPage({ bot }: SessionsQuery) {
  if (!bot) return undefined;
  const { edges, pageInfo } = bot.sessions;
  return { rows: edges.map(({ node }) => listed(node)), head: undefined, pageInfo };
}

function listed({ messages, ...session }: Node): ListedSession {
  const excerpt = messages.edges[0]?.node.text.slice(0, EXCERPT);
  return { ...session, excerpt };
}
