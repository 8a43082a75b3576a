import { useEffect, useMemo, useState } from 'react';
import { serverNow } from '../../server/clock.ts';
import { liveRows } from '../../trace/live-spans.ts';
import { SpanList } from '../../trace/span-list.tsx';
import { rowsOf } from '../../trace/stored-spans.ts';
import { SpanDetails } from './span-details.tsx';
import type { ShownRun } from './use-run.ts';
import type { RunEvents } from './use-run-events.ts';
import { isActive } from './words.ts';

/** The trace of a run: drawn from its events while it is active, then as it is stored. */
export function RunTrace({
  run,
  events,
  span,
  onSpan,
}: {
  run: ShownRun;
  events: RunEvents;
  /** The id of the selected span. */
  span: string | undefined;
  onSpan(id: string): void;
}) {
  const { spans } = run.trace;
  const stored = useMemo(() => rowsOf(spans), [spans]);
  const isOpen = isActive(run.status);
  const now = useNow(isOpen);
  const rows = stored.length > 0 ? stored : liveRows(events.turn);
  if (!isOpen && stored.length === 0)
    return <p className="faint run-note">No spans are stored for this run.</p>;
  const selected = rows.find(({ id }) => id === span);
  return (
    <>
      <SpanList
        rows={rows}
        now={Math.max(0, now - Date.parse(run.createdAt))}
        selected={selected?.id}
        onSelect={onSpan}
      />
      {selected && <SpanDetails row={selected} />}
    </>
  );
}

/** The server's time, ten times a second while it is needed. */
function useNow(isNeeded: boolean): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    if (!isNeeded) return undefined;
    const timer = setInterval(() => setNow(serverNow()), 100);
    return () => clearInterval(timer);
  }, [isNeeded]);
  return now;
}
