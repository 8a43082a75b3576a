import { useEffect, useMemo, useState } from 'react';
import { Id } from '../../parts/copy.tsx';
import { duration } from '../../parts/time.tsx';
import { serverNow } from '../../server/clock.ts';
import { attributeWords } from '../../trace/attribute-words.ts';
import { liveRows } from '../../trace/live-spans.ts';
import { SpanList } from '../../trace/span-list.tsx';
import type { SpanRow } from '../../trace/span-row.ts';
import { rowsOf } from '../../trace/stored-spans.ts';
import type { ShownRun } from './use-run.ts';
import type { RunEvents } from './use-run-events.ts';
import { isActive } from './words.ts';
import '../../parts/pairs.css';

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

/** The attributes of a span in words. */
function SpanDetails({ row }: { row: SpanRow }) {
  const { id, label, detail, from, ms, hasFailed, attributes = {} } = row;
  return (
    <section className="run-span" aria-label="Selected span">
      <h3>
        {label} {detail && <span className="mono">{detail}</span>}
        {hasFailed && <span className="run-failed">failed</span>}
      </h3>
      <dl className="pairs">
        <div>
          <dt>Starts after</dt>
          <dd className="number">{duration(from)}</dd>
        </div>
        {ms !== undefined && (
          <div>
            <dt>Takes</dt>
            <dd className="number">{duration(ms)}</dd>
          </div>
        )}
        {Object.entries(attributes).map(([name, value]) => {
          const words = attributeWords(name, value);
          return (
            <div key={name} title={name}>
              <dt>{words.name}</dt>
              <dd className={name === 'error.type' ? 'run-failed' : undefined}>{words.value}</dd>
            </div>
          );
        })}
        {/^[0-9a-f]{16}$/.test(id) && (
          <div>
            <dt>Span</dt>
            <dd>
              <Id>{id}</Id>
            </dd>
          </div>
        )}
      </dl>
    </section>
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
