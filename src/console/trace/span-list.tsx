import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { duration } from '../parts/time.tsx';
import { SpanCells, totalOf } from './span-cells.tsx';
import type { SpanRow } from './span-row.ts';
import './waterfall.css';
import './span-list.css';

/** Height of a span, in pixels. */
const ROW = 26;

/** Spans that show before the list scrolls by itself. */
const SHOWN = 18;

const TICKS = [0, 0.25, 0.5, 0.75, 1];

/**
 * Spans as bars over one time axis, of which one is selected. Arrow keys move the selection. Only the spans in sight
 * are in the page, so that a trace may have thousands.
 */
export function SpanList({
  rows,
  now,
  total = totalOf(rows, now),
  selected,
  onSelect,
}: {
  rows: SpanRow[];
  now: number;
  /** The length of the time axis in milliseconds. It fits the spans by default. */
  total?: number;
  selected: string | undefined;
  onSelect(id: string): void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
    useFlushSync: false,
  });
  const at = rows.findIndex(({ id }) => id === selected);
  const reachable = at === -1 ? 0 : at;
  useEffect(() => {
    if (at !== -1) virtualizer.scrollToIndex(at);
  }, [at, virtualizer]);
  const move = (step: number) => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, reachable + step))];
    if (next) onSelect(next.id);
  };
  return (
    <div className="span-list">
      <div className="span-axis" aria-hidden="true">
        {TICKS.map((share) => (
          <span key={share} className="number" style={{ insetInlineStart: `${share * 100}%` }}>
            {duration(total * share)}
          </span>
        ))}
      </div>
      <div
        ref={scroller}
        className="span-scroll"
        style={{ height: Math.min(rows.length, SHOWN) * ROW }}
      >
        <ol
          aria-label={`Trace of ${rows.length.toLocaleString('en')} spans`}
          style={{ height: virtualizer.getTotalSize() }}
          onKeyDown={(event) => {
            const step = { ArrowDown: 1, ArrowUp: -1, PageDown: SHOWN, PageUp: -SHOWN }[event.key];
            if (!step) return;
            event.preventDefault();
            event.stopPropagation();
            move(step);
          }}
        >
          {virtualizer.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            if (!row) return null;
            return (
              <li key={row.id} style={{ transform: `translateY(${start}px)` }}>
                <button
                  ref={index === at ? focusIfWithin : undefined}
                  type="button"
                  className="span-line"
                  aria-pressed={index === at}
                  tabIndex={index === reachable ? 0 : -1}
                  onClick={() => onSelect(row.id)}
                >
                  <SpanCells row={row} now={now} total={total} />
                </button>
              </li>
            );
          })}
        </ol>
      </div>
    </div>
  );
}

/** The focus follows the selection while it is within the list. */
function focusIfWithin(button: HTMLButtonElement | null): void {
  const list = button?.closest('ol');
  const isWithin = list?.contains(document.activeElement);
  if (isWithin) button?.focus({ preventScroll: true });
}
