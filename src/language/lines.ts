import type { Comment, Token } from './token.ts';

type Line = {
  readonly depth: number;
  /** Its text, split into columns that align with neighbouring lines. */
  columns: readonly string[];
  comment: string;
  readonly emptyBefore: boolean;
  /** Whether it opens a block. Then no empty line follows. */
  opens: boolean;
};

/**
 * Collects the lines of a formatted source, in source order. It inserts the source's comments and empty lines between
 * them, and keeps a trailing comment on its line.
 */
export function createLines(text: string, comments: readonly Comment[]) {
  const lines: Line[] = [];
  /** The number of comments written. */
  let done = 0;
  /** The source offset up to which lines are written. */
  let offset = 0;
  let isSeparated = false;

  function addLine(depth: number, start: number, columns: readonly string[]): void {
    const isFirst = lines.at(-1)?.opens ?? true;
    const emptyBefore = isSeparated || (!isFirst && /\n\s*\n/.test(text.slice(offset, start)));
    isSeparated = false;
    lines.push({ depth, columns, comment: '', emptyBefore, opens: false });
  }

  function addComments(end: number, depth: number): void {
    for (let next = comments[done]; next && next.start < end; next = comments[done]) {
      const line = lines.at(-1);
      if (line && !next.startsLine && line.comment === '') line.comment = next.text;
      else addLine(depth, next.start, [next.text]);
      offset = next.end;
      done += 1;
    }
  }

  function append(end: string, token: Token): void {
    const line = lines.at(-1);
    if (line) line.columns = [...line.columns.slice(0, -1), `${line.columns.at(-1)}${end}`];
    offset = token.end;
  }

  return {
    /** Whether an unwritten comment precedes a token. */
    hasCommentBefore: ({ start }: Token): boolean => (comments[done]?.start ?? start) < start,

    /** Writes the comments before a line's first token. */
    begin({ start }: Token, depth: number): void {
      addComments(start, depth);
    },

    /** Writes a line, from its first token to its last. */
    add(columns: readonly string[], first: Token, last: Token, depth: number): void {
      addLine(depth, first.start, columns);
      offset = last.end;
    },

    /** Appends to the last line. */
    append,

    /** Ends the last line with a block's opening brace. */
    open(brace: Token): void {
      append(' {', brace);
      const line = lines.at(-1);
      if (line) line.opens = true;
    },

    /** Closes a block. @param depth the depth of the line that opened it. */
    close(brace: Token, depth: number): void {
      addComments(brace.start, depth + 1);
      lines.push({ depth, columns: ['}'], comment: '', emptyBefore: false, opens: false });
      offset = brace.end;
    },

    /** Inserts an empty line before the next line. */
    separate(): void {
      isSeparated = true;
    },

    /** The whole text. */
    end(): string {
      addComments(text.length, 0);
      return align(lines).map(toText).join('');
    },
  };
}

function toText({ depth, columns, comment, emptyBefore }: Line): string {
  const text = [...columns, ...(comment ? [comment] : [])].join(' ');
  return `${emptyBefore ? '\n' : ''}${'  '.repeat(depth)}${text}\n`;
}

/** Pads the columns of neighbouring lines of the same depth, to align them. */
function align(lines: readonly Line[]): Line[] {
  const groups: Line[][] = [];
  for (const line of lines) {
    const group = groups.at(-1);
    if (group && !line.emptyBefore && line.depth === group[0]?.depth) group.push(line);
    else groups.push([line]);
  }
  return groups.flatMap(pad);
}

/** A wider column does not affect the alignment of neighbouring lines. */
const MAX_COLUMN = 40;

function pad(group: readonly Line[]): Line[] {
  const widths = [0, 0];
  for (const { columns } of group)
    for (const [index, { length }] of columns.slice(0, -1).entries())
      if (length <= MAX_COLUMN) widths[index] = Math.max(widths[index] ?? 0, length);
  return group.map((line) => {
    const last = line.columns.length - 1;
    const columns = line.columns.map((column, index) =>
      index < last ? column.padEnd(widths[index] ?? 0) : column,
    );
    return { ...line, columns };
  });
}
