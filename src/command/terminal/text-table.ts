import stringWidth from 'fast-string-width';
import type { Style } from './style.ts';
import { visible } from './visible.ts';

/** A column of a table. */
export type Column = {
  title: string;
  /** Whether its cells end at the right. */
  isNumber?: true;
  /** Colours a cell. */
  paint?(cell: string): string;
};

/**
 * Rows in aligned columns, without rules. The last column is cut to the width of the terminal.
 *
 * @param width columns of the terminal; none: nothing is cut.
 */
export function textTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { style, width }: { style: Style; width: number | undefined },
): string {
  const cells = [columns.map(({ title }) => title), ...rows.map((row) => row.map(oneLine))];
  const widths = columns.map((_column, index) =>
    Math.max(...cells.map((row) => widthOf(row[index] ?? ''))),
  );
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + GAP.length, 0);
  const last = width === undefined ? undefined : Math.max(MIN_LAST, width - before);
  const lines = cells.map((row, line) =>
    columns
      .map(({ isNumber, paint = (cell: string) => cell }, index) => {
        const isLast = index === columns.length - 1;
        const whole = row[index] ?? '';
        const cell = isLast && last !== undefined ? cut(whole, last) : whole;
        const space = ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(cell)));
        const painted = line === 0 ? style.dim(cell) : paint(cell);
        if (isNumber) return space + painted;
        return isLast ? painted : painted + space;
      })
      .join(GAP)
      .trimEnd(),
  );
  return lines.join('\n');
}

const GAP = '  ';
/** Columns that the last column keeps in a narrow terminal. */
const MIN_LAST = 10;

/** Terminal columns of a visible text without styles. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

/** The visible form of a text, on one line. */
export function oneLine(text: string): string {
  return visible(text.replaceAll(/\s+/g, ' ').trim());
}

const GRAPHEMES = new Intl.Segmenter();

/** Cuts a text to a number of terminal columns, with an ellipsis. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let end = 0;
  let columns = 0;
  // The width of each grapheme once: a text may have any number of marks that take no column.
  for (const { index, segment } of GRAPHEMES.segment(text)) {
    columns += widthOf(segment);
    if (columns > width - 1) break;
    end = index + segment.length;
  }
  return `${text.slice(0, end)}…`;
}
