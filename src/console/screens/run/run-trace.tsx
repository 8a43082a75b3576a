import { useMemo } from 'react';
import { useNow } from '../../parts/use-now.ts';
import { isActive } from '../../runs/labels.ts';
import { serverNow } from '../../server/clock.ts';
import { liveRows } from '../../trace/live-spans.ts';
import { SpanList } from '../../trace/span-list.tsx';
import { rowsOf } from '../../trace/stored-spans.ts';
import { SpanDetails } from './span-details.tsx';
import type { ShownRun } from './use-run.ts';
import type { RunEvents } from './use-run-events.ts';

const REDRAW_MS = 100;

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
  const now = useNow(serverNow, REDRAW_MS, isOpen);
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
