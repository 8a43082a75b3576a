import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useEffectEvent, useRef } from 'react';
import { Button } from '../../parts/button.tsx';
import { Refused, Skeleton } from '../../parts/state.tsx';
import { runAddress } from '../../runs/filter.ts';
import { useStore } from '../../server/store.ts';
import { COLUMNS, type ColumnName, columnChoice } from './columns.ts';
import { RunRow } from './run-row.tsx';
import './run-table.css';
import type { RunPages } from './use-runs.ts';

/** Height of a row, in pixels. */
const ROW = 48;

/** Height of the names of the columns, in pixels. */
const NAMES = 36;

/** Rows before the end at which the next page is read. */
const AHEAD = 20;

/** A search reads this many pages that are not full, then it asks whether to go on. */
const SHORT_PAGES = 10;

/**
 * The runs as a table of links. Only the rows in sight are in the page. Arrow keys open the next run beside the table,
 * Enter opens its page.
 */
export function RunTable({
  pages,
  search,
  selected,
  compared,
  onSelect,
  children,
}: {
  pages: RunPages;
  /** The parameters of the address. */
  search: URLSearchParams;
  /** The id of the run that is open beside the table. */
  selected: string | undefined;
  /** The id of the run with which the next chosen one is compared. */
  compared: string | undefined;
  /** Stays the same function, so that a row renders only if it changes. @returns whether there is room beside the table. */
  onSelect(id: string): boolean;
  /** Replaces the rows if there are none. */
  children: ReactNode;
}) {
  const { rows: runs, isFirst, isReading, problem, hasMore, shortPages, readMore } = pages;
  const isAsking = hasMore && !isReading && shortPages > 0 && shortPages % SHORT_PAGES === 0;
  const columns = useStore(columnChoice.shown);
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: runs.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 10,
    // The names of the columns stay above the rows.
    scrollPaddingStart: NAMES,
    useFlushSync: false,
  });
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const isNearEnd = hasMore && last >= runs.length - AHEAD;
  const readNext = useEffectEvent(readMore);
  useEffect(() => {
    if (isNearEnd && !isReading && !isAsking && !problem) readNext();
  }, [isNearEnd, isReading, isAsking, problem]);

  const at = runs.findIndex(({ id }) => id === selected);
  const focusRow = (index: number) => {
    virtualizer.scrollToIndex(index);
    // The row may come into the page with the next frame.
    requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`a[data-index="${index}"]`)?.focus(),
    );
  };
  const move = (from: number, step: number) => {
    const index = Math.max(0, Math.min(runs.length - 1, from + step));
    const run = runs[index];
    if (!run) return;
    onSelect(run.id);
    focusRow(index);
  };
  if (runs.length === 0 && !isFirst && !hasMore) return children;
  const before = items[0]?.start ?? 0;
  const after = virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0);
  const reachable = at !== -1 ? at : (items[0]?.index ?? 0);
  return (
    <div
      ref={scroller}
      className={isFirst && runs.length > 0 ? 'run-scroll run-scroll-old' : 'run-scroll'}
      aria-busy={isFirst}
    >
      <table
        className="table run-table"
        aria-label="Runs"
        aria-rowcount={hasMore ? -1 : runs.length + 1}
        onKeyDown={(event) => {
          const { key, target } = event;
          const link = target instanceof HTMLElement ? target.closest('a') : null;
          const step = { ArrowDown: 1, ArrowUp: -1 }[key];
          if (!step || !link || event.altKey || event.ctrlKey || event.metaKey) return;
          event.preventDefault();
          const from = Number(link.dataset.index);
          // The first key press opens the run of the focused row.
          move(from, at === -1 && selected === undefined && step === 1 ? 0 : step);
        }}
      >
        <Names columns={columns} />
        {isFirst && runs.length === 0 ? (
          <LoadingRows columns={columns} />
        ) : (
          <tbody>
            {before > 0 && <Space height={before} />}
            {items.map(({ index }) => {
              const run = runs[index];
              return (
                run && (
                  <RunRow
                    key={run.id}
                    run={run}
                    address={runAddress(run.id, search)}
                    index={index}
                    columns={columns}
                    isSelected={index === at}
                    isReachable={index === reachable}
                    compared={compared}
                    onOpen={onSelect}
                  />
                )
              );
            })}
            {after > 0 && <Space height={after} />}
          </tbody>
        )}
      </table>
      {problem && !isFirst && (
        <div className="run-table-end">
          <Refused problem={problem} />
          <Button onClick={readMore}>Try again</Button>
        </div>
      )}
      {isAsking && !problem && (
        <div className="run-table-end">
          <p>The search has not reached the oldest runs yet.</p>
          <Button onClick={readMore}>Search older runs</Button>
        </div>
      )}
      {hasMore && !isAsking && !problem && (
        <p className="run-table-end faint" aria-busy={isReading}>
          {shortPages > 0 ? 'Searching older runs…' : 'Reading more runs…'}
        </p>
      )}
    </div>
  );
}

function Names({ columns }: { columns: readonly ColumnName[] }) {
  return (
    <thead>
      <tr aria-rowindex={1}>
        {COLUMNS.filter(({ name }) => columns.includes(name)).map(({ name, label }) => (
          <th key={name} data-column={name}>
            {label}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** The height of the rows that are not in the page. One cell, because a narrow list hides columns. */
function Space({ height }: { height: number }) {
  return (
    <tr className="run-space">
      <td style={{ height }} />
    </tr>
  );
}

const LOADING = Array.from({ length: 12 }, (_, row) => row);

function LoadingRows({ columns }: { columns: readonly ColumnName[] }) {
  return (
    <tbody>
      {LOADING.map((row) => (
        <tr key={row} className="run-row">
          {COLUMNS.filter(({ name }) => columns.includes(name)).map(({ name }) => (
            <td key={name} data-column={name}>
              <Skeleton width="70%" />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}
