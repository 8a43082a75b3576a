/** The size limit of a source in bytes of UTF-8: 256 KiB. */
export const MAX_SOURCE_BYTES = 262_144;

/** A normalized source. */
export type Source = {
  /** Without a byte order mark. Each line break is `\n`. */
  readonly text: string;
  /** The offset at which each line begins. */
  readonly lineStarts: readonly number[];
};

export function createSource(input: string): Source {
  const text = input.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const lineStarts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1))
    lineStarts.push(at + 1);
  return { text, lineStarts };
}

/** A part of a source, from the first offset up to the second, exclusive. */
export type SourceRange = { readonly start: number; readonly end: number };

/** The line and column of an offset, both from 1. */
export function positionAt({ lineStarts }: Source, offset: number) {
  let low = 0;
  let high = lineStarts.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((lineStarts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return { line: low + 1, column: offset - (lineStarts[low] ?? 0) + 1 };
}

/**
 * The lines and columns of a range, all from 1; the end is exclusive. Columns count UTF-16 code units as in JavaScript,
 * without a byte order mark. A line ends at `\n`, `\r\n` or `\r`.
 */
export type Position = { line: number; column: number; endLine: number; endColumn: number };

export function rangeAt(source: Source, { start, end }: SourceRange): Position {
  const { line: endLine, column: endColumn } = positionAt(source, end);
  return { ...positionAt(source, start), endLine, endColumn };
}

/** The length of a text in bytes of UTF-8. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Bytes of UTF-8 that a UTF-16 code unit takes at most. */
const MAX_UNIT_BYTES = 3;

/** Whether a source exceeds the limit. The checks of `length` avoid encoding most texts. */
export function isTooLarge(input: string): boolean {
  if (input.length > MAX_SOURCE_BYTES) return true;
  return input.length * MAX_UNIT_BYTES > MAX_SOURCE_BYTES && byteLength(input) > MAX_SOURCE_BYTES;
}
