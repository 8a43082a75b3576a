import { useEffect, useState } from 'react';
import { BotNames } from '../../operations/console/operations.ts';
import { useServerQuery } from './operations.ts';
import type { Problem } from './problem.ts';

/** Bots that one request reads: the largest page of the schema. */
const PAGE = 100;

const PAUSE_MS = 200;

export type NamedBot = { id: string; name: string };

/**
 * The names of the bots to choose from: the newest ones and, if the account has more, those that contain the search
 * text. The server searches at each pause in typing.
 */
export function useBotNames(search: string): {
  bots: NamedBot[] | undefined;
  /** Whether the account has bots that only a search finds. */
  hasMore: boolean;
  problem: Problem | undefined;
} {
  const newest = useServerQuery(BotNames, { first: PAGE, search: null });
  const hasMore = newest.data?.bots.pageInfo.hasNextPage ?? false;
  const text = useSettled(search.trim());
  const found = useServerQuery(
    BotNames,
    { first: PAGE, search: text },
    { pause: !hasMore || !text },
  );
  const all = [newest.data, text && hasMore ? found.data : undefined].flatMap(
    (data) => data?.bots.edges.map(({ node }) => node) ?? [],
  );
  return {
    bots: newest.data && [...new Map(all.map((bot) => [bot.id, bot])).values()],
    hasMore,
    problem: newest.problem ?? found.problem,
  };
}

/** The text at the last pause in typing. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/** Whether the name or the id of a bot contains a text, as the server's search has it. */
export function matches({ id, name }: NamedBot, search: string): boolean {
  const text = search.trim().toLowerCase();
  return name.toLowerCase().includes(text) || id.toLowerCase().includes(text);
}
