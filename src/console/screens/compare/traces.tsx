import { useMemo } from 'react';
import { useSearchParams } from 'wouter';
import { totalOf } from '../../trace/span-cells.tsx';
import { SpanList } from '../../trace/span-list.tsx';
import type { SpanRow } from '../../trace/span-row.ts';
import { rowsOf } from '../../trace/stored-spans.ts';
import { SpanDetails } from '../run/span-details.tsx';
import type { ShownRun } from '../run/use-run.ts';

/** The traces of both runs, over axes of the same length. */
export function Traces({ one, two }: { one: ShownRun; two: ShownRun }) {
  const first = useMemo(() => rowsOf(one.trace.spans), [one]);
  const second = useMemo(() => rowsOf(two.trace.spans), [two]);
  const total = Math.max(totalOf(first, 0), totalOf(second, 0));
  return (
    <div className="compare-traces">
      <Trace title="Trace of the first run" name="span" rows={first} total={total} />
      <Trace title="Trace of the second run" name="other_span" rows={second} total={total} />
    </div>
  );
}

/** @param name the parameter of the address that selects a span. */
function Trace({
  title,
  name,
  rows,
  total,
}: {
  title: string;
  name: string;
  rows: SpanRow[];
  total: number;
}) {
  const [search, setSearch] = useSearchParams();
  const selected = rows.find(({ id }) => id === search.get(name));
  const select = (id: string) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        next.set(name, id);
        return next;
      },
      { replace: true },
    );
  return (
    <section className="run-course" aria-label={title}>
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p className="faint run-note">No spans are stored for this run.</p>
      ) : (
        <SpanList rows={rows} now={0} total={total} selected={selected?.id} onSelect={select} />
      )}
      {selected && <SpanDetails row={selected} />}
    </section>
  );
}
