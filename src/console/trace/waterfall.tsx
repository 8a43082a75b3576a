import { useState } from 'react';
import { duration } from '../parts/time.tsx';
import type { SpanRow } from './span-row.ts';
import './waterfall.css';

/** The smallest width of a bar, in percent, so that a short span shows. */
const LEAST = 0.6;

/** Spans as bars over one time axis, which fits all of them. A span with attributes unfolds. */
export function Waterfall({ rows, now }: { rows: SpanRow[]; now: number }) {
  const endOf = ({ from, ms }: SpanRow) => (ms === undefined ? now : from + ms);
  const total = Math.max(1, ...rows.map(endOf));
  return (
    <ol className="waterfall" aria-label="Trace">
      {rows.map((row) => (
        <SpanLine key={row.id} row={row} end={endOf(row)} total={total} />
      ))}
    </ol>
  );
}

function SpanLine({ row, end, total }: { row: SpanRow; end: number; total: number }) {
  const [isUnfolded, setUnfolded] = useState(false);
  const { label, detail, depth, kind, from, ms, hasFailed, attributes } = row;
  const left = Math.min(100 - LEAST, (from / total) * 100);
  const width = Math.max(LEAST, Math.min(100 - left, ((end - from) / total) * 100));
  const line = (
    <>
      <span className="span-name cut" style={{ paddingInlineStart: depth * 12 }}>
        {label} {detail && <span className="mono faint">{detail}</span>}
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
  if (!attributes) return <li className="span-line">{line}</li>;
  return (
    <li>
      <button
        type="button"
        className="span-line"
        aria-expanded={isUnfolded}
        onClick={() => setUnfolded(!isUnfolded)}
      >
        {line}
      </button>
      {isUnfolded && (
        <dl className="pairs mono span-attributes">
          {Object.entries(attributes).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  );
}
