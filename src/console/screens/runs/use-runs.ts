import { useCallback, useEffect, useRef, useState } from 'react';
import {
  type ListedRunFragment,
  type RunFilter,
  Runs,
} from '../../../operations/console/operations.ts';
import { returns } from '../../server/connection.ts';
import { ask } from '../../server/operations.ts';
import type { Problem } from '../../server/problem.ts';
import { session } from '../../server/session.ts';
import { useStore } from '../../server/store.ts';

/** Runs of one page. */
export const PAGE = 50;

/** A run in the list, with the beginnings of its texts. */
export type ListedRun = ListedRunFragment;

export type RunPages = {
  runs: ListedRun[];
  /** Whether the first page of the present filter is not there yet. Rows of the filter before may show. */
  isFirst: boolean;
  isReading: boolean;
  problem: Problem | undefined;
  hasMore: boolean;
  /** Reads the next page, or again after a problem. */
  readMore(): void;
  /** Reads the list from its start. The rows stay until then. */
  readAgain(): void;
  /** Changes runs that the list has, and adds new ones at its start. */
  put(changed: ListedRun[], fresh: ListedRun[]): void;
};

type State = {
  runs: ListedRun[];
  cursor: string | null;
  hasMore: boolean;
  isFirst: boolean;
  isReading: boolean;
  problem?: Problem | undefined;
};

const START: State = { runs: [], cursor: null, hasMore: false, isFirst: true, isReading: true };

/** The runs of a bot that match a filter, newest first, page by page. */
export function useRuns(botId: string, filter: RunFilter): RunPages {
  const [state, setState] = useState(START);
  const reading = useRef<AbortController>(undefined);
  const read = useCallback(
    async (after: string | null) => {
      reading.current?.abort();
      const controller = new AbortController();
      reading.current = controller;
      setState((before) => ({ ...before, isReading: true, problem: undefined }));
      const { data, problem } = await ask(Runs, { botId, first: PAGE, after, filter });
      if (controller.signal.aborted) return;
      if (problem) return setState((before) => ({ ...before, isReading: false, problem }));
      const { edges, pageInfo } = data.runs;
      const page = edges.map(({ node }) => node);
      setState((before) => ({
        runs: after === null ? page : merged(before.runs, page),
        cursor: pageInfo.endCursor ?? null,
        hasMore: pageInfo.hasNextPage,
        isFirst: false,
        isReading: false,
      }));
    },
    [botId, filter],
  );
  const readAgain = useCallback(() => void read(null), [read]);
  const returned = useStore(returns);
  const isSignedIn = useStore(session) === 'open';
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is read again when the server is back
  useEffect(() => {
    if (!isSignedIn) return undefined;
    setState((before) => ({ ...before, isFirst: true }));
    readAgain();
    return () => reading.current?.abort();
  }, [readAgain, returned, isSignedIn]);

  const put = useCallback((changed: ListedRun[], fresh: ListedRun[]) => {
    const byId = new Map(changed.map((run) => [run.id, run]));
    setState((before) => ({
      ...before,
      runs: merged(
        fresh.toSorted(newestFirst),
        before.runs.map((run) => byId.get(run.id) ?? run),
      ),
    }));
  }, []);
  const { runs, isFirst, isReading, problem, hasMore, cursor } = state;
  return {
    runs,
    isFirst,
    isReading,
    problem,
    hasMore,
    readMore: () => void read(isFirst ? null : cursor),
    readAgain,
    put,
  };
}

function merged(first: ListedRun[], then: ListedRun[]): ListedRun[] {
  const ids = new Set(first.map(({ id }) => id));
  return [...first, ...then.filter(({ id }) => !ids.has(id))];
}

function newestFirst(one: ListedRun, other: ListedRun): number {
  return Date.parse(other.createdAt) - Date.parse(one.createdAt) || (one.id < other.id ? 1 : -1);
}
