import { BotName, BotNames } from '../../generated/operations/console.ts';
import { useServerQuery } from './operations.ts';
import type { Problem } from './problem.ts';
import { useDebounced } from './use-debounced.ts';

/** Bots that one request reads: the largest page of the schema. */
const PAGE = 100;

export type NamedBot = { id: string; name: string };

/**
 * Loads the names of the newest bots. If the account has more bots, the server searches for the text at each pause in
 * typing, and the bots that it finds are added.
 */
export function useBotNames(search: string): {
  bots: NamedBot[] | undefined;
  /** Whether the account has more bots than the newest ones. A search finds the others. */
  hasMore: boolean;
  problem: Problem | undefined;
} {
  const newest = useServerQuery(BotNames, { first: PAGE, search: null });
  const hasMore = newest.data?.bots.pageInfo.hasNextPage ?? false;
  const text = useDebounced(search.trim());
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

/** The name of a bot, or its id until the name is known. */
export function useBotName(id: string): string {
  return useServerQuery(BotName, { id }).data?.bot?.name ?? id;
}

/** Whether the name or the id of a bot contains a text, as the server's search has it. */
export function matches({ id, name }: NamedBot, search: string): boolean {
  const text = search.trim().toLowerCase();
  return name.toLowerCase().includes(text) || id.toLowerCase().includes(text);
}
