import { useMemo, useRef } from 'react';
import { Failed } from '../../parts/state.tsx';
import { toast } from '../../parts/toast.tsx';
import { useNow } from '../../parts/use-now.ts';
import { useShortcuts } from '../../parts/use-shortcuts.ts';
import { isActive } from '../../runs/labels.ts';
import { serverNow } from '../../server/clock.ts';
import type { ToolCallRecord } from '../../tool-calls/tool-call-details.tsx';
import { liveRows } from '../../trace/live-spans.ts';
import { SpanList } from '../../trace/span-list.tsx';
import type { SpanRow } from '../../trace/span-row.ts';
import { rowsOf } from '../../trace/stored-spans.ts';
import { StepDetails } from './steps/step-details.tsx';
import { firstStep, withCalls } from './steps/step-rows.ts';
import { callOf, useToolCalls } from './steps/use-tool-calls.ts';
import type { ShownRun } from './use-run.ts';
import type { RunEvents } from './use-run-events.ts';

const REDRAW_MS = 100;
const NO_CALLS: readonly ToolCallRecord[] = [];

/**
 * The steps of a run: drawn from its events while it is active, then as they are stored. The first failure is selected at
 * first. Up and down select a step, Enter goes to its details, and C copies its output.
 */
export function RunTrace({
  run,
  events,
  span,
  onSpan,
}: {
  run: ShownRun;
  events: RunEvents;
  /** The id of the step in the address. */
  span: string | undefined;
  onSpan(id: string): void;
}) {
  const { spans } = run.trace;
  const { calls = NO_CALLS, problem, retry } = useToolCalls(run);
  const createdAt = Date.parse(run.createdAt);
  const stored = useMemo(
    () => withCalls(rowsOf(spans), calls, createdAt),
    [spans, calls, createdAt],
  );
  const isOpen = isActive(run.status);
  const frame = useRef<HTMLDivElement>(null);
  const now = useNow(serverNow, REDRAW_MS, isOpen);
  const rows = spans.length > 0 || !isOpen ? stored : liveRows(events.turn);
  const selected = rows.find(({ id }) => id === span) ?? (isOpen ? undefined : firstStep(rows));
  const move = (step: number) => {
    const at = selected ? rows.indexOf(selected) : -1;
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + step))];
    if (next) onSpan(next.id);
  };
  const copyOutput = () => {
    const output = selected && outputOf(run, selected, calls);
    if (!output) return toast('This step has no stored output.');
    void navigator.clipboard.writeText(output).then(() => toast('Copied the output of the step.'));
  };
  /** Whether another element than the step has the focus, which may use the key itself. */
  const isUsed = () =>
    document.activeElement !== document.body && !document.activeElement?.matches('.step');
  useShortcuts({
    arrowdown: () => isUsed() || move(1),
    arrowup: () => isUsed() || move(-1),
    enter: () => {
      const isInList = frame.current?.querySelector('.span-list :focus');
      if (isInList || !isUsed()) frame.current?.querySelector<HTMLElement>('.step')?.focus();
    },
    c: copyOutput,
  });
  if (!isOpen && rows.length === 0)
    return <p className="faint run-note">No spans are stored for this run.</p>;
  return (
    <>
      {problem && <Failed problem={problem} onRetry={retry} />}
      <div ref={frame} className="steps">
        <SpanList
          rows={rows}
          now={Math.max(0, now - createdAt)}
          selected={selected?.id}
          onSelect={onSpan}
        />
        {selected && (
          <StepDetails run={run} row={selected} rows={rows} calls={calls} onSelect={onSpan} />
        )}
      </div>
    </>
  );
}

/** The text that came out of a step. */
function outputOf({ response }: ShownRun, row: SpanRow, calls: readonly ToolCallRecord[]) {
  if (row.kind === 'tool') return callOf(row, calls)?.result;
  return row.kind === 'run' || row.kind === 'model' ? response : undefined;
}
