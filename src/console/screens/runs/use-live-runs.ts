import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { RunChanges, type RunFilter, Runs } from '../../../operations/console/operations.ts';
import { followAlways } from '../../server/follow.ts';
import { askUntil } from '../../server/operations.ts';
import type { Problem } from '../../server/problem.ts';
import { session } from '../../server/session.ts';
import { useStore } from '../../server/store.ts';
import { useVisible } from '../../server/visible.ts';
import { type ListedRun, PAGE, type RunPages } from './use-runs.ts';

/** New runs that wait to be shown. Beyond them the list is read from its start instead. */
const MOST_WAITING = 200;

/** Pause between two drawings of what changed. */
const PAUSE_MS = 250;

export type LiveRuns = {
  /** The number of new runs that the list does not show yet. */
  count: number;
  problem: Problem | undefined;
  /** Shows the new runs at the start of the list. */
  show(): void;
};

/**
 * Follows the runs of a bot. A run of the list changes in its place. New runs wait until they are asked for, so that
 * nothing that is being read moves.
 *
 * @param isOn whether to follow. A hidden tab does not.
 */
export function useLiveRuns(
  botId: string,
  filter: RunFilter,
  { rows: runs, isFirst, put, readAgain }: RunPages,
  isOn: boolean,
): LiveRuns {
  const isSignedIn = useStore(session) === 'open';
  const isVisible = useVisible();
  const waiting = useRef(new Map<string, ListedRun>());
  const [count, setCount] = useState(0);
  const [problem, setProblem] = useState<Problem>();
  const newest = runs[0]?.createdAt;
  const listed = useRef<{ ids: ReadonlySet<string>; newest: string | undefined }>(null);
  listed.current = useMemo(
    () => ({ ids: new Set(runs.map(({ id }) => id)), newest }),
    [runs, newest],
  );
  const hasGap = useRef(false);

  const clear = useCallback(() => {
    waiting.current = new Map();
    hasGap.current = false;
    setCount(0);
  }, []);
  const arrived = useCallback(
    (changes: ListedRun[]) => {
      // The request has no status: a run that leaves the filter must change in the list too.
      const isListed = ({ id }: ListedRun) => listed.current?.ids.has(id) ?? false;
      const isNew = (run: ListedRun) =>
        !isListed(run) && (filter.status?.includes(run.status) ?? true);
      for (const run of changes) {
        if (isNew(run)) waiting.current.set(run.id, run);
        else waiting.current.delete(run.id);
      }
      const changed = changes.filter(isListed);
      if (changed.length > 0) put(changed, []);
      setCount(waiting.current.size);
    },
    [filter, put],
  );

  const catchUp = useCallback(
    async (signal: AbortSignal) => {
      const request = { botId, first: PAGE, after: null, filter };
      const { data } = (await askUntil(Runs, request, signal)) ?? {};
      if (!data || !listed.current) return;
      const { ids, newest } = listed.current;
      const page = data.runs.edges.map(({ node }) => node);
      hasGap.current ||= ids.size > 0 && !page.some(({ id }) => ids.has(id));
      arrived(page.filter(({ id, createdAt }) => ids.has(id) || !newest || createdAt >= newest));
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
    if (hasGap.current || waiting.current.size > MOST_WAITING) readAgain();
    else put([], [...waiting.current.values()]);
    clear();
  };
  return { count, problem, show };
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
