import { kindOf } from './escapes.ts';
import type { Patterns } from './patterns.ts';
import { createDecodedText, createStage } from './stage.ts';
import { createStarts } from './starts.ts';

/** Receives the range of a pattern found in the source text. */
export type Found = (start: number, end: number, pattern: number) => void;

/** An escape in the source text, decoded. */
export type Escape = {
  kind: number;
  /** A byte of UTF-8 if the kind is `%`, else a unit. */
  value: number;
  /** A second unit, or 0. */
  rest: number;
  start: number;
  end: number;
  /** The escape itself: the last units of a buffer. */
  codes: Uint16Array;
  from: number;
  to: number;
};

/**
 * Searches a text whose escapes of one kind are decoded, or of two nested kinds. The chain is inactive while the decoded
 * text equals the plain text. It becomes active where an escape is decoded, from the state of the plain text's matcher.
 * Text without escapes therefore costs nothing.
 */
export type Chain = {
  /** The kinds of escapes decoded in the source text. */
  outer: number;
  /** The kind of escapes decoded in the result, or 0. */
  inner: number;
  isActive(): boolean;
  /**
   * @param state the state of the plain text's matcher.
   * @param at the position of the next unit.
   */
  activate(state: number, at: number): void;
  /** Reads a unit that belongs to no escape. */
  push(code: number, at: number): void;
  pushEscape(found: Escape): void;
  /** The start of the earliest incomplete match, if any. */
  liveStart(): number | undefined;
  flush(): void;
};

/** The number of states for which one unit pays. */
const STATES_PER_UNIT = 8;

export function createChain(
  { matcher: { next, depth, match }, lengths }: Patterns,
  [outer, inner = 0]: readonly [number, number?],
  found: Found,
): Chain {
  const starts = createStarts();
  let active = false;
  let state = 0;
  /** The position of activation, the units read since, and the number of units up to the last decoded one. */
  let takenAt = 0;
  let count = 0;
  let decoded = 0;
  /**
   * Activation takes over a state of any depth, which the matcher may leave state by state. The chain then stays active
   * for a proportional number of units. Otherwise, repeated activations would repeat this work.
   */
  let debt = 0;

  const startOf = (length: number) =>
    length <= count ? starts.get(count - length) : takenAt - (length - count);

  const read = (code: number, start: number, end: number, isLiteral: boolean) => {
    const before = depth[state] ?? 0;
    state = next(state, code);
    const after = depth[state] ?? 0;
    debt = Math.max(0, debt + before - after - STATES_PER_UNIT);
    starts.set(count, start, after);
    count += 1;
    if (!isLiteral) decoded = count;
    const pattern = match[state] ?? -1;
    if (pattern >= 0) found(startOf(lengths[pattern] ?? 0), end, pattern);
  };

  const stage = inner === 0 ? undefined : createStage(inner, read);
  const text = createDecodedText(stage?.push ?? read);
  const pending = () => stage?.pending() ?? text.pending();
  let isPending = false;

  const settle = () => {
    const isAhead = decoded > 0 && count - decoded < (depth[state] ?? 0);
    active = isAhead || isPending || debt > 0;
  };

  return {
    outer,
    inner,
    isActive: () => active,
    activate(plainState, at) {
      active = true;
      state = plainState;
      takenAt = at;
      count = 0;
      decoded = 0;
      debt = 0;
    },
    push(code, at) {
      if (isPending || kindOf(code) !== 0) {
        text.push(code, at, at + 1, true);
        isPending = pending() !== undefined;
      } else read(code, at, at + 1, true);
      settle();
    },
    pushEscape({ kind, value, rest, start, end, codes, from, to }) {
      if ((outer & kind) !== 0) text.decoded(kind, value, rest, start, end);
      else if (kind === inner && !isPending) stage?.decoded(kind, value, rest, start, end);
      else
        for (let at = from; at < to; at += 1) {
          const place = start + at - from;
          text.push(codes[at] ?? 0, place, place + 1, true);
        }
      isPending = pending() !== undefined;
      settle();
    },
    liveStart: () => (state === 0 ? pending() : startOf(depth[state] ?? 0)),
    flush() {
      stage?.flush();
    },
  };
}
