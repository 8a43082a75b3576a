import { useCallback, useMemo } from 'react';
import {
  type ListedRunFragment,
  type RunFilter,
  Runs,
  type RunsQuery,
} from '../../../generated/operations/console.ts';
import { joined, type Page, type Pages, usePages } from '../../server/use-pages.ts';

/** Runs of one page. */
export const PAGE = 50;

/** A run in the list, with the beginnings of its texts. */
export type ListedRun = ListedRunFragment;

export type RunPages = Pages<ListedRun> & {
  /** Changes runs that the list has, and adds new ones in their places. */
  put(changed: ListedRun[], fresh: ListedRun[]): void;
};

/** The runs of a bot that match a filter, newest first, page by page. */
export function useRuns(botId: string, filter: RunFilter): RunPages {
  const variables = useMemo(() => ({ botId, filter }), [botId, filter]);
  const pages = usePages(Runs, { size: PAGE, variables }, toPage);
  const { change } = pages;
  const put = useCallback(
    (changed: ListedRun[], fresh: ListedRun[]) => {
      const byId = new Map(changed.map((run) => [run.id, run]));
      change((rows) => {
        const latest = rows.map((run) => byId.get(run.id) ?? run);
        return fresh.length === 0 ? latest : joined(fresh, latest).toSorted(newestFirst);
      });
    },
    [change],
  );
  return { ...pages, put };
}

function toPage({ runs: { edges, pageInfo } }: RunsQuery): Page<ListedRun, undefined> {
  return { rows: edges.map(({ node }) => node), head: undefined, pageInfo };
}

/** The order of the list. */
export function newestFirst(one: ListedRun, other: ListedRun): number {
  // The server writes every time in the same form.
  if (one.createdAt !== other.createdAt) return one.createdAt < other.createdAt ? 1 : -1;
  return one.id < other.id ? 1 : -1;
}
