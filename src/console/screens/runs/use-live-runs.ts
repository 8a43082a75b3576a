import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import {
  RunChanges,
  type RunFilter,
  Runs,
  RunsById,
} from '../../../generated/operations/console.ts';
import { isActive } from '../../runs/labels.ts';
import { followAlways } from '../../server/follow.ts';
import { askUntil } from '../../server/operations.ts';
import type { Problem } from '../../server/problem.ts';
import { session } from '../../server/session.ts';
import { useStore } from '../../server/store.ts';
import { useVisible } from '../../server/visible.ts';
import { type ListedRun, newestFirst, PAGE, type RunPages } from './use-runs.ts';

/** New runs that wait to be shown. Beyond them the list is read from its start instead. */
const MAX_WAITING = 200;

/** Runs that one request reads by their ids. */
const MAX_IDS = 100;

/** Pause between two drawings of what changed. */
const PAUSE_MS = 250;

export type LiveRuns = {
  /** The number of new runs that the list does not show yet. */
  count: number;
  /** The number of changes so far, also of runs that the list does not show. */
  changes: number;
  problem: Problem | undefined;
  /** Shows the new runs in their places. */
  show(): void;
};

type Listed = {
  rows: ReadonlyMap<string, ListedRun>;
  /** The last row, if more runs follow it. */
  end: ListedRun | undefined;
};

/**
 * Follows the runs of a bot. A run of the list changes in its place, also if its status no longer matches the filter. New
 * runs wait until they are asked for, so that nothing that is being read moves.
 *
 * @param isOn whether to follow. A hidden tab does not.
 */
export function useLiveRuns(
  botId: string,
  filter: RunFilter,
  { rows: runs, isFirst, hasMore, put, readAgain }: RunPages,
  isOn: boolean,
): LiveRuns {
  const isSignedIn = useStore(session) === 'open';
  const isVisible = useVisible();
  const waiting = useRef(new Map<string, ListedRun>());
  const [count, setCount] = useState(0);
  const [changes, setChanges] = useState(0);
  const [problem, setProblem] = useState<Problem>();
  const listed = useRef<Listed>(null);
  listed.current = useMemo(
    () => ({
      rows: new Map(runs.map((run) => [run.id, run])),
      end: hasMore ? runs.at(-1) : undefined,
    }),
    [runs, hasMore],
  );
  const hasGap = useRef(false);

  const clear = useCallback(() => {
    waiting.current = new Map();
    hasGap.current = false;
    setCount(0);
  }, []);
  const arrived = useCallback(
    (read: ListedRun[]) => {
      if (!listed.current) return;
      const { rows, end } = listed.current;
      const changed = read.filter((run) =>
        isChange(run, rows.get(run.id) ?? waiting.current.get(run.id)),
      );
      if (changed.length === 0) return;
      // The request has no status: a run that leaves the filter must change in the list too.
      const isNew = (run: ListedRun) =>
        !rows.has(run.id) &&
        (filter.status?.includes(run.status) ?? true) &&
        // A later page has the older ones.
        (!end || newestFirst(run, end) < 0);
      for (const run of changed) {
        if (isNew(run)) waiting.current.set(run.id, run);
        else waiting.current.delete(run.id);
      }
      const shown = changed.filter(({ id }) => rows.has(id));
      if (shown.length > 0) put(shown, []);
      setCount(waiting.current.size);
      setChanges((before) => before + 1);
    },
    [filter, put],
  );

  const catchUp = useCallback(
    async (signal: AbortSignal) => {
      const request = { botId, first: PAGE, after: null, filter };
      const { data } = (await askUntil(Runs, request, signal)) ?? {};
      if (!data || !listed.current) return;
      const { rows } = listed.current;
      const page = data.runs.edges.map(({ node }) => node);
      const isPart = data.runs.pageInfo.hasNextPage;
      hasGap.current ||= isPart && rows.size > 0 && !page.some(({ id }) => rows.has(id));
      arrived(page);
      // The page has neither older runs nor runs that no longer match the filter.
      const known = new Set(page.map(({ id }) => id));
      const active = [...rows.values(), ...waiting.current.values()]
        .filter(({ id, status }) => isActive(status) && !known.has(id))
        .map(({ id }) => id);
      for (let at = 0; at < active.length; at += MAX_IDS) {
        const ids = active.slice(at, at + MAX_IDS);
        const { data } = (await askUntil(RunsById, { ids }, signal)) ?? {};
        if (!data) return;
        arrived(data.nodes.filter((node) => node?.__typename === 'Run'));
      }
    },
    [botId, filter, arrived],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter has other new runs
  useEffect(clear, [filter, clear]);
  const isFollowing = isOn && isVisible && isSignedIn && !isFirst;
  useEffect(() => {
    if (!isFollowing) return undefined;
    const controller = new AbortController();
    setProblem(undefined);
    const { signal } = controller;
    const onConnected = () => void catchUp(signal);
    void followRuns(botId, filter, { signal, onConnected }, arrived).then((refusal) => {
      if (!controller.signal.aborted) setProblem(refusal);
    });
    return () => controller.abort();
  }, [botId, filter, isFollowing, arrived, catchUp]);

  const show = () => {
    if (hasGap.current || waiting.current.size > MAX_WAITING) readAgain();
    else put([], [...waiting.current.values()]);
    clear();
  };
  return { count, changes, problem, show };
}

/** Whether a run differs from how it was read before. A run that is over stays over, so an active one is an older answer. */
function isChange(run: ListedRun, before: ListedRun | undefined): boolean {
  if (before && isActive(run.status) && !isActive(before.status)) return false;
  return JSON.stringify(run) !== JSON.stringify(before);
}

/** @returns the problem if the server refuses. */
function followRuns(
  botId: string,
  filter: RunFilter,
  connection: { signal: AbortSignal; onConnected(): void },
  onChanges: (changes: ListedRun[]) => void,
): Promise<Problem | undefined> {
  const { signal } = connection;
  let changes = new Map<string, ListedRun>();
  const flush = () => {
    const all = [...changes.values()];
    changes = new Map();
    if (!signal.aborted) onChanges(all);
  };
  const variables = { botId, filter: { ...filter, status: null } };
  return followAlways(RunChanges, variables, connection, ({ run }) => {
    if (changes.size === 0) setTimeout(flush, PAUSE_MS);
    changes.set(run.id, run);
  });
}
