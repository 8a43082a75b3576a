import { useCallback, useMemo } from 'react';
import {
  type ListedRunFragment,
  type RunFilter,
  Runs,
  type RunsQuery,
} from '../../../operations/console/operations.ts';
import { joined, type Page, type Pages, usePages } from '../../server/use-pages.ts';

/** Runs of one page. */
export const PAGE = 50;

/** A run in the list, with the beginnings of its texts. */
export type ListedRun = ListedRunFragment;

export type RunPages = Pages<ListedRun> & {
  /** Changes runs that the list has, and adds new ones at its start. */
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
      change((rows) =>
        joined(
          fresh.toSorted(newestFirst),
          rows.map((run) => byId.get(run.id) ?? run),
        ),
      );
    },
    [change],
  );
  return { ...pages, put };
}

function toPage({ runs: { edges, pageInfo } }: RunsQuery): Page<ListedRun, undefined> {
  return { rows: edges.map(({ node }) => node), head: undefined, pageInfo };
}

function newestFirst(one: ListedRun, other: ListedRun): number {
  return Date.parse(other.createdAt) - Date.parse(one.createdAt) || (one.id < other.id ? 1 : -1);
}
