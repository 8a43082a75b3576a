import { useMemo, useRef, useState } from 'react';
import { Segments } from '../parts/segments.tsx';
import './diff.css';
import { DiffTable } from './diff-table.tsx';
import type { DiffLayout } from './rows.ts';
import { diffTexts, type TextDiff } from './text-diff.ts';
import { useChosenLayout, useIsWide } from './use-diff-layout.ts';

const LAYOUTS: { name: DiffLayout; label: string }[] = [
  { name: 'split', label: 'Side by side' },
  { name: 'unified', label: 'Unified' },
];

type TextDiffProps = {
  /** The kind of the texts, such as `Definition`. */
  label: string;
  /** The text before. Absent: there was none, so every line is new. */
  before: string | undefined;
  after: string;
  /** Names of the two texts, such as `v12` and `v13`. Absent: there was no text before. */
  beforeName: string | undefined;
  afterName: string;
};

/**
 * The difference of two texts with changed words, folded where nothing changed. Side by side if the place is wide enough
 * and the address does not ask for one column.
 */
export function TextDiffView({ label, before, after, beforeName, afterName }: TextDiffProps) {
  const diff = useMemo(() => diffTexts(before, after), [before, after]);
  const [chosen, choose] = useChosenLayout();
  const frame = useRef<HTMLElement>(null);
  const isWide = useIsWide(frame);
  const isSame = diff.added + diff.removed === 0;
  // Other texts have other folds.
  const [texts, setTexts] = useState({ before, after, count: 0 });
  if (texts.before !== before || texts.after !== after)
    setTexts({ before, after, count: texts.count + 1 });
  const layout = isWide && before !== undefined ? chosen : 'unified';
  return (
    <section ref={frame} className="diff" aria-label={`${label}: difference`}>
      <header className="diff-head">
        <p>
          <strong>{label}</strong> <DiffSummary diff={diff} />
        </p>
        {isWide && !isSame && before !== undefined && (
          <Segments label="Layout" options={LAYOUTS} current={chosen} onChange={choose} />
        )}
      </header>
      {!isSame && (
        <DiffTable
          key={`${layout} ${texts.count}`}
          blocks={diff.blocks}
          layout={layout}
          label={label}
          beforeName={beforeName}
          afterName={afterName}
        />
      )}
    </section>
  );
}

/** How many lines differ, as text. */
function DiffSummary({ diff: { added, removed, isOnlyEndings } }: { diff: TextDiff }) {
  if (isOnlyEndings) return <span className="soft">only line endings differ</span>;
  if (added + removed === 0) return <span className="soft">unchanged</span>;
  const unit = (added || removed) === 1 ? 'line' : 'lines';
  const [plus, minus] = [added.toLocaleString('en'), removed.toLocaleString('en')];
  return (
    <span className="soft number">
      {added === 0
        ? `${minus} ${unit} removed`
        : `${plus} ${unit} added${removed > 0 ? `, ${minus} removed` : ''}`}
    </span>
  );
}
