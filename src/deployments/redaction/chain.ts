import type { Escape } from './escapes.ts';
import type { Patterns } from './patterns.ts';
import { createStage } from './stage.ts';
import { createStarts } from './starts.ts';

/** Notes where a pattern was found in the source. */
export type Found = (start: number, end: number, pattern: number) => void;

/**
 * Reads a text with the escapes of one kind replaced, or of two, the second within the first. It rests while it would
 * find what the plain text shows, and takes over the plain text's state where an escape may begin: text without
 * escapes costs nothing.
 */
export type Chain = {
  openers: ReadonlySet<number>;
  isActive(): boolean;
  /**
   * @param state of the matcher that reads the plain text.
   * @param at where the next unit stands.
   */
  activate(state: number, at: number): void;
  push(code: number, at: number): void;
  /** The start of the earliest match that may still be completed, if any may. */
  liveStart(): number | undefined;
  flush(): void;
};

export function createChain(
  { matcher: { next, depth, match }, lengths }: Patterns,
  [first, second]: readonly [Escape, Escape?],
  found: Found,
): Chain {
  const starts = createStarts();
  let active = false;
  let state = 0;
  /** Where the chain took over, how many units it has read since, and up to which of them the last decoded one is. */
  let takenAt = 0;
  let count = 0;
  let decoded = 0;

  const startOf = (length: number) =>
    length <= count ? starts.get(count - length) : takenAt - (length - count);

  const inner = createStage(second ?? first, (code, start, end, isLiteral) => {
    state = next(state, code);
    starts.set(count, start, depth[state] ?? 0);
    count += 1;
    if (!isLiteral) decoded = count;
    const pattern = match[state] ?? -1;
    if (pattern >= 0) found(startOf(lengths[pattern] ?? 0), end, pattern);
  });
  const outer = second ? createStage(first, inner.push) : inner;
  const pending = () => inner.pending() ?? outer.pending();

  return {
    openers: new Set([...first.openers, ...(second?.openers ?? [])]),
    isActive: () => active,
    activate(plainState, at) {
      active = true;
      state = plainState;
      takenAt = at;
      count = 0;
      decoded = 0;
    },
    push(code, at) {
      outer.push(code, at, at + 1, true);
      const isAhead = decoded > 0 && count - decoded < (depth[state] ?? 0);
      active = isAhead || pending() !== undefined;
    },
    liveStart: () => (state === 0 ? pending() : startOf(depth[state] ?? 0)),
    flush() {
      outer.flush();
      inner.flush();
    },
  };
}
