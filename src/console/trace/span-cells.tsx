import { Icon, type IconName } from '../parts/icon.tsx';
import { duration } from '../parts/time.tsx';
import type { SpanRow } from './span-row.ts';

/** The smallest width of a bar, in percent, so that a short span shows. */
const LEAST = 0.6;

/** Levels that are indented. Deeper spans stand below their last level. */
const DEEPEST = 12;

const ICONS: Record<SpanRow['kind'], IconName> = {
  run: 'pulse',
  history: 'clock',
  memory: 'mark',
  context: 'braces',
  step: 'layers',
  model: 'chip',
  tool: 'tool',
};

/** When a span ends, in milliseconds from the start of the trace. */
export function endOf({ from, ms }: SpanRow, now: number): number {
  return ms === undefined ? now : from + ms;
}

/** The length of the time axis, which fits all spans. */
export function totalOf(rows: SpanRow[], now: number): number {
  return rows.reduce((most, row) => Math.max(most, endOf(row, now)), 1);
}

/** The name, the bar and the duration of a span. */
export function SpanCells({ row, now, total }: { row: SpanRow; now: number; total: number }) {
  const { label, detail, depth, kind, from, ms, hasFailed, failure } = row;
  const left = Math.min(100 - LEAST, (from / total) * 100);
  const share = ((endOf(row, now) - from) / total) * 100;
  const width = Math.max(LEAST, Math.min(100 - left, share));
  return (
    <>
      <span
        className={hasFailed ? 'span-name span-name-failed' : 'span-name'}
        style={{ paddingInlineStart: Math.min(depth, DEEPEST) * 12 }}
      >
        <Icon name={hasFailed ? 'warning' : ICONS[kind]} size={14} />
        <span className={kind === 'tool' ? 'cut mono' : 'cut'}>{label}</span>{' '}
        {failure && <span className="span-failure">{failure}</span>}
        {!failure && detail && <span className="span-detail mono faint cut">{detail}</span>}
      </span>
      <span className="span-track" aria-hidden="true">
        <span
          className={`span-bar span-${hasFailed ? 'failed' : kind}`}
          style={{ left: `${left}%`, width: `${width}%` }}
        />
      </span>
      <span className="span-ms number">
        {ms === undefined ? 'running' : duration(ms)}
        {hasFailed && <span className="unseen"> failed</span>}
      </span>
    </>
  );
}
