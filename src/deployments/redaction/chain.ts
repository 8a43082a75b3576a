import type { Escape } from './escapes.ts';
import type { Patterns } from './patterns.ts';
import { createStage } from './stage.ts';
import { createStarts } from './starts.ts';

/** Receives the range of a pattern found in the source text. */
export type Found = (start: number, end: number, pattern: number) => void;

/**
 * Searches a text whose escapes of one kind are decoded, or of two nested kinds. The chain is inactive while the decoded
 * text equals the plain text. It becomes active where an escape may begin, from the state of the plain text's matcher.
 * Text without escapes therefore costs nothing.
 */
export type Chain = {
  openers: ReadonlySet<number>;
  isActive(): boolean;
  /**
   * @param state the state of the plain text's matcher.
   * @param at the position of the next unit.
   */
  activate(state: number, at: number): void;
  push(code: number, at: number): void;
  /** The start of the earliest incomplete match, if any. */
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
  /** The position of activation, the units read since, and the number of units up to the last decoded one. */
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
