import { useState } from 'react';
import { SpanCells, totalOf } from './span-cells.tsx';
import type { SpanRow } from './span-row.ts';
import './waterfall.css';

/** Spans as bars over one time axis, which fits all of them. A span with attributes unfolds. */
export function Waterfall({ rows, now }: { rows: SpanRow[]; now: number }) {
  const total = totalOf(rows, now);
  return (
    <ol className="waterfall" aria-label="Trace">
      {rows.map((row) => (
        <SpanLine key={row.id} row={row} now={now} total={total} />
      ))}
    </ol>
  );
}

function SpanLine({ row, now, total }: { row: SpanRow; now: number; total: number }) {
  const [isUnfolded, setUnfolded] = useState(false);
  const { attributes } = row;
  const line = <SpanCells row={row} now={now} total={total} />;
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
