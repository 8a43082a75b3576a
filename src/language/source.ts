/** The most bytes that a source may have, counted in UTF-8: 256 KiB. */
export const MAX_SOURCE_BYTES = 262_144;

/** A source as it is read. */
export type Source = {
  /** Without a byte order mark, every line break a `\n`. */
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

/** Where an offset is, for people: both from 1. */
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

/** The length of a text in UTF-8. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Whether a source is over the limit. What is far over it is not even encoded. */
export function isTooLarge(input: string): boolean {
  return input.length > MAX_SOURCE_BYTES || byteLength(input) > MAX_SOURCE_BYTES;
}
