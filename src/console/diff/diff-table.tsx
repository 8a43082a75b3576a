import { memo, useMemo, useState } from 'react';
import { each } from '../parts/each.ts';
import {
  type DiffItem,
  type DiffLayout,
  type DiffLine,
  type DiffRow,
  foldRows,
  openFold,
  rowsOf,
} from './rows.ts';
import type { DiffBlock } from './text-diff.ts';
import { compareWords } from './words.ts';

const COLUMNS = {
  unified: ['number', 'number', 'sign', 'text'],
  split: ['number', 'sign', 'text', 'number', 'sign', 'text'],
} satisfies Record<DiffLayout, string[]>;

/** The lines of a diff as a table. A fold opens in its place, and the focus goes to its first line. */
export function DiffTable({
  blocks,
  layout,
  label,
  beforeName,
  afterName,
}: {
  blocks: DiffBlock[];
  layout: DiffLayout;
  label: string;
  /** Absent: there was no version before, and the layout is unified. */
  beforeName: string | undefined;
  afterName: string;
}) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const [focused, setFocused] = useState<number>();
  const rows = useMemo(() => rowsOf(blocks, layout), [blocks, layout]);
  const items = useMemo(() => foldRows(rows, opened), [rows, opened]);
  const open = (at: number, count: number) => {
    setOpened(openFold(opened, at, count));
    setFocused(at);
  };
  const Row = layout === 'split' ? SplitRow : UnifiedRow;
  return (
    <table className={`diff-table diff-${layout}`}>
      <caption className="unseen">
        {beforeName === undefined
          ? `${label} of ${afterName}, all of it new`
          : `${label}: ${beforeName} and ${afterName}`}
      </caption>
      <colgroup>
        {each(COLUMNS[layout], (column) => (
          <col className={`diff-column-${column}`} />
        ))}
      </colgroup>
      <Head layout={layout} beforeName={beforeName} afterName={afterName} />
      <tbody>
        {items.map((item) =>
          item.type === 'fold' ? (
            <Fold
              key={`fold ${item.at}`}
              fold={item}
              columns={COLUMNS[layout].length}
              onOpen={() => open(item.at, item.count)}
            />
          ) : (
            <Row key={item.at} row={item.row} isFocused={item.at === focused} />
          ),
        )}
      </tbody>
    </table>
  );
}

function Head({
  layout,
  beforeName,
  afterName,
}: {
  layout: DiffLayout;
  beforeName: string | undefined;
  afterName: string;
}) {
  if (layout === 'unified')
    return (
      <thead className="unseen">
        <tr>
          <th>{beforeName === undefined ? 'No earlier version' : `Line of ${beforeName}`}</th>
          <th>Line of {afterName}</th>
          <th>Change</th>
          <th>Text</th>
        </tr>
      </thead>
    );
  return (
    <thead>
      <tr>
        {each([beforeName, afterName], (name) => (
          <th colSpan={3}>{name}</th>
        ))}
      </tr>
    </thead>
  );
}

function Fold({
  fold: { count, isSame },
  columns,
  onOpen,
}: {
  fold: Extract<DiffItem, { type: 'fold' }>;
  columns: number;
  onOpen(): void;
}) {
  const lines = `${count.toLocaleString('en')} ${isSame ? 'unchanged' : 'more'} ${count === 1 ? 'line' : 'lines'}`;
  return (
    <tr className="diff-fold">
      <td colSpan={columns}>
        <button type="button" onClick={onOpen}>
          <span aria-hidden="true">⋯</span> Show {lines}
        </button>
      </td>
    </tr>
  );
}

type RowProps = { row: DiffRow; isFocused: boolean };

const UnifiedRow = memo(function UnifiedRow({ row, isFocused }: RowProps) {
  const { isSame, before, after } = row;
  const line = after ?? before;
  const change = isSame ? 'same' : after ? 'added' : 'removed';
  return (
    <tr className={`diff-row diff-${change}`} {...focus(isFocused)}>
      <td className="diff-number">{before?.number}</td>
      <td className="diff-number">{after?.number}</td>
      <Sign change={change} />
      <td className="diff-text">{line && <Text line={line} change={change} />}</td>
    </tr>
  );
});

const SplitRow = memo(function SplitRow({ row, isFocused }: RowProps) {
  const { isSame, before, after } = row;
  return (
    <tr className="diff-row" {...focus(isFocused)}>
      <Half line={before} change={isSame ? 'same' : 'removed'} />
      <Half line={after} change={isSame ? 'same' : 'added'} />
    </tr>
  );
});

type Change = 'same' | 'added' | 'removed';

function Half({ line, change }: { line: DiffLine | undefined; change: Change }) {
  if (!line)
    return (
      <>
        <td className="diff-number diff-none" />
        <td className="diff-sign diff-none" />
        <td className="diff-text diff-none" />
      </>
    );
  return (
    <>
      <td className={`diff-number diff-${change}`}>{line.number}</td>
      <Sign change={change} />
      <td className={`diff-text diff-${change}`}>
        <Text line={line} change={change} />
      </td>
    </>
  );
}

/** Says by a sign, and to a screen reader by a word, how the line differs. */
function Sign({ change }: { change: Change }) {
  return (
    <td className={`diff-sign diff-${change}`}>
      {change !== 'same' && (
        <>
          <span aria-hidden="true">{change === 'added' ? '+' : '−'}</span>
          <span className="unseen">{change}</span>
        </>
      )}
    </td>
  );
}

function Text({ line: { text, counterpart }, change }: { line: DiffLine; change: Change }) {
  if (change === 'same' || counterpart === undefined) return <code>{text}</code>;
  const Mark = change === 'added' ? 'ins' : 'del';
  const parts =
    change === 'added'
      ? compareWords(counterpart, text).after
      : compareWords(text, counterpart).before;
  return (
    <code>{each(parts, (part) => (part.isChanged ? <Mark>{part.text}</Mark> : part.text))}</code>
  );
}

/** The row that a fold opened takes the focus of its button. */
function focus(isFocused: boolean) {
  return isFocused ? { tabIndex: -1, ref: (row: HTMLElement | null) => row?.focus() } : {};
}
