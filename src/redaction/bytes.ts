import type { Found } from './layer.ts';
import type { Patterns } from './patterns.ts';
import { createStarts } from './starts.ts';
import { createUtf8Decoder } from './utf8.ts';

/** Decodes bytes as UTF-8 and searches the text for patterns. */
export type ByteReader = {
  /** @returns whether a match has begun. */
  push(byte: number, start: number, end: number): boolean;
  reset(): void;
  /** The start of the earliest incomplete match, if any. */
  liveStart(): number | undefined;
};

export function createByteReader(
  { matcher: { next, depth, match }, lengths }: Patterns,
  found: Found,
): ByteReader {
  const starts = createStarts();
  let state = 0;
  let count = 0;

  const utf8 = createUtf8Decoder((code, start, end) => {
    state = next(state, code);
    if (state === 0) count = 0;
    else {
      starts.set(count, start, depth[state] ?? 0);
      count += 1;
    }
    const pattern = match[state] ?? -1;
    if (pattern >= 0) found(starts.get(count - (lengths[pattern] ?? 0)), end, pattern);
  });

  return {
    push(byte, start, end) {
      utf8.push(byte, start, end);
      return state !== 0 || utf8.pending() !== undefined;
    },
    reset() {
      state = 0;
      count = 0;
      utf8.reset();
    },
    liveStart: () => (state === 0 ? utf8.pending() : starts.get(count - (depth[state] ?? 0))),
  };
}
