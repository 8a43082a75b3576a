import { useEffect, useState } from 'react';
import { Run, type RunQuery } from '../../../generated/operations/console.ts';
import { isActive } from '../../runs/labels.ts';
import { useServerQuery } from '../../server/operations.ts';
import type { Problem } from '../../server/problem.ts';
import { type RunEvents, useRunEvents } from './use-run-events.ts';

export type ShownRun = NonNullable<RunQuery['run']>;

export type RunReading = {
  /** As it was read last. It stays if the run is deleted while it is open. */
  run: ShownRun | undefined;
  isDeleted: boolean;
  /** Why the run cannot be read, or not again. */
  problem: Problem | undefined;
  events: RunEvents;
  retry(): void;
};

/**
 * Reads a run, follows it while it is active, and reads it again at its end and when the tab is shown again.
 *
 * @param needsEvents whether the events of a finished run are shown.
 */
export function useRun(id: string, needsEvents: boolean): RunReading {
  const { data, problem, retry } = useServerQuery(Run, { id });
  const [run, setRun] = useState<ShownRun>();
  const found = data?.run;
  if (found?.id === id && found !== run) setRun(found);

  const isOpen = run !== undefined && isActive(run.status);
  const [wasOpen, setWasOpen] = useState(false);
  if (isOpen && !wasOpen) setWasOpen(true);
  const createdAt = run ? Date.parse(run.createdAt) : 0;
  const events = useRunEvents(id, createdAt, run !== undefined && (wasOpen || needsEvents));
  useEffect(() => {
    if (events.isOver && isOpen) retry();
  }, [events.isOver, isOpen, retry]);

  useEffect(() => {
    const look = () => {
      if (document.visibilityState === 'visible') retry();
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, [retry]);

  const isDeleted = run !== undefined && problem?.code === 'RUN_NOT_FOUND';
  return { run, isDeleted, problem, events, retry };
}

/** The number of failed tool calls in the trace of a run. */
export function failedCallsOf({ trace }: ShownRun): number {
  return trace.spans.filter(
    ({ name, status }) => name.startsWith('execute_tool ') && status === 'ERROR',
  ).length;
}
