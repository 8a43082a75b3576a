import type { DiffBlock } from './text-diff.ts';

export type DiffLayout = 'split' | 'unified';

/** A line of one text. */
export type DiffLine = {
  /** From 1. */
  number: number;
  text: string;
  /** The line of the other text in its place, whose different words are marked. */
  counterpart?: string | undefined;
};

/** A row of a diff. In the split layout a changed row can have both lines; in the unified layout it has one. */
export type DiffRow = {
  isSame: boolean;
  before?: DiffLine | undefined;
  after?: DiffLine | undefined;
};

/** The content of a diff: rows, and places with folded rows. */
export type DiffItem =
  | { type: 'row'; at: number; row: DiffRow }
  | {
      type: 'fold';
      /** Index of the first folded row. */
      at: number;
      count: number;
      /** Whether the rows are the same in both texts. Otherwise they are folded because there are too many. */
      isSame: boolean;
    };

/** Unchanged rows around each change. */
const CONTEXT = 3;
/** Rows that are worth a fold. */
const LEAST_FOLDED = 4;
/** Rows that show at first, and that one fold opens at most. */
export const MAX_ROWS = 300;
/** Lines of the longest change whose words are compared. */
const MAX_COMPARED = 100;

export function rowsOf(blocks: DiffBlock[], layout: DiffLayout): DiffRow[] {
  return blocks.flatMap((block): DiffRow[] => {
    const { isSame, before, after, firstBefore, firstAfter } = block;
    const isCompared = !isSame && Math.max(before.length, after.length) <= MAX_COMPARED;
    const old = before.map((text, at) => line(firstBefore + at, text, isCompared ? after : [], at));
    const new_ = after.map((text, at) => line(firstAfter + at, text, isCompared ? before : [], at));
    if (isSame || layout === 'split') {
      const count = Math.max(old.length, new_.length);
      return Array.from({ length: count }, (_, at) => ({
        isSame,
        before: old[at],
        after: new_[at],
      }));
    }
    return [
      ...old.map((one) => ({ isSame, before: one })),
      ...new_.map((one) => ({ isSame, after: one })),
    ];
  });
}

function line(number: number, text: string, others: string[], at: number): DiffLine {
  return { number, text, counterpart: others[at] };
}

/**
 * Folds unchanged rows away from changes, and all rows beyond the first `MAX_ROWS`.
 *
 * @param opened indexes of rows that a fold has opened.
 */
export function foldRows(rows: DiffRow[], opened: ReadonlySet<number>): DiffItem[] {
  const isNear = nearChanges(rows);
  const items: DiffItem[] = [];
  let shown = 0;
  for (let at = 0; at < rows.length; ) {
    const row = rows[at];
    const far = opened.has(at) ? 0 : farRows(isNear, opened, at);
    if (!row) break;
    if (far >= LEAST_FOLDED) {
      items.push({ type: 'fold', at, count: far, isSame: true });
      at += far;
    } else if (shown >= MAX_ROWS && !opened.has(at)) {
      const end = nextOpened(opened, at, rows.length);
      items.push({ type: 'fold', at, count: end - at, isSame: false });
      at = end;
    } else {
      items.push({ type: 'row', at, row });
      if (!opened.has(at)) shown += 1;
      at += 1;
    }
  }
  return items;
}

/** The rows that open with a fold: all, or the first `MAX_ROWS`. */
export function openFold(opened: ReadonlySet<number>, at: number, count: number): Set<number> {
  const length = Math.min(count, MAX_ROWS);
  return new Set([...opened, ...Array.from({ length }, (_, step) => at + step)]);
}

/** Whether each row is a change or close to one. */
function nearChanges(rows: DiffRow[]): boolean[] {
  const isNear = new Array<boolean>(rows.length).fill(false);
  for (const [at, { isSame }] of rows.entries()) {
    if (isSame) continue;
    const end = Math.min(rows.length, at + CONTEXT + 1);
    for (let near = Math.max(0, at - CONTEXT); near < end; near += 1) isNear[near] = true;
  }
  return isNear;
}

/** The number of successive rows from an index on that are far from changes and not opened. */
function farRows(isNear: boolean[], opened: ReadonlySet<number>, from: number): number {
  let end = from;
  while (end < isNear.length && !isNear[end] && !opened.has(end)) end += 1;
  return end - from;
}

function nextOpened(opened: ReadonlySet<number>, from: number, length: number): number {
  let end = from;
  while (end < length && !opened.has(end)) end += 1;
  return end;
}
