import { Id } from '../../parts/copy.tsx';
import { duration } from '../../parts/time.tsx';
import { attributeLabel } from '../../trace/attribute-labels.ts';
import type { SpanRow } from '../../trace/span-row.ts';
import '../../parts/pairs.css';
import './run.css';

/** The attributes of a span as text. */
export function SpanDetails({ row }: { row: SpanRow }) {
  const { label, detail, hasFailed } = row;
  return (
    <section className="run-span" aria-label="Selected span">
      <h3>
        {label} {detail && <span className="mono">{detail}</span>}
        {hasFailed && <span className="run-failed">failed</span>}
      </h3>
      <SpanAttributes row={row} />
    </section>
  );
}

/** The times and attributes of a span as pairs. */
export function SpanAttributes({ row }: { row: SpanRow }) {
  const { id, from, ms, attributes = {} } = row;
  return (
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
        const words = attributeLabel(name, value);
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
  );
}
