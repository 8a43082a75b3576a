import { type Cursor, createDecoder, type Layer, type Push, type Starts } from './decoder.ts';
import { MAX_ESCAPE } from './escapes.ts';
import type { Patterns } from './patterns.ts';
import { createStarts } from './starts.ts';
import { createUtf8Decoder } from './utf8.ts';

/** Receives the range of a pattern found in the source text. */
export type Found = (start: number, end: number, pattern: number) => void;

/** The number of states for which one unit pays. */
const STATES_PER_UNIT = 8;

export function createLayer(
  patterns: Patterns,
  kinds: number,
  createLayers: (() => readonly Layer[]) | undefined,
  found: Found,
): Layer {
  const {
    matcher: { next, depth, match },
    lengths,
  } = patterns;
  const starts = createStarts();
  /**
   * Activation takes over a state of any depth, which the matcher may leave state by state. The layer then stays active
   * for a proportional number of units. Otherwise, repeated activations would repeat this work.
   */
  let debt = 0;

  const read = (code: number, start: number, end: number) => {
    const before = cursor.state;
    const state = next(before, code);
    const index = cursor.count;
    const after = depth[state] ?? 0;
    if (debt > 0) debt = Math.max(0, debt - STATES_PER_UNIT);
    starts.set(index, start, after + 2 * MAX_ESCAPE);
    cursor.state = state;
    cursor.count = index + 1;
    const pattern = match[state] ?? -1;
    if (pattern >= 0) found(starts.get(index + 1 - (lengths[pattern] ?? 0)), end, pattern);
    decoder?.push(code, start, end, before, index);
  };

  const decoder = createLayers && createDecoder(patterns, starts, createLayers);

  const readDecoded: Push = (code, start, end) => {
    cursor.decoded = cursor.count + 1;
    read(code, start, end);
  };
  const utf8 = createUtf8Decoder(readDecoded);
  const { character } = utf8;
  const cursor: Cursor = { state: 0, count: 0, decoded: 0, starts, character };

  const settle = () => {
    layer.active =
      cursor.count - cursor.decoded < (depth[cursor.state] ?? 0) ||
      character.missing > 0 ||
      debt > 0 ||
      decoder?.isBusy() === true;
  };

  /** Takes over the units of another text that a match may include. */
  const take = (state: number, index: number, from: Starts) => {
    const count = depth[state] ?? 0;
    layer.active = true;
    cursor.state = state;
    cursor.count = count;
    cursor.decoded = 0;
    debt = count;
    for (let at = 0; at < count; at += 1)
      starts.set(at, from.get(index - count + at), count + 2 * MAX_ESCAPE);
  };

  const layer: Layer = {
    kinds,
    decoder,
    active: false,
    cursor,
    activate: take,
    expect() {
      cursor.decoded = cursor.count + MAX_ESCAPE;
    },
    copy({ cursor: { state, count, decoded, starts, character } }) {
      take(state, count, starts);
      utf8.take(character);
      cursor.decoded = cursor.count - (count - decoded);
    },
    push(code, start, end) {
      utf8.interrupt(start);
      read(code, start, end);
      settle();
    },
    decode(value, rest, isByte, start, end) {
      if (isByte) utf8.push(value, start, end);
      else {
        utf8.interrupt(start);
        readDecoded(value, start, end);
        if (rest !== 0) readDecoded(rest, start, end);
      }
      settle();
    },
    liveStart() {
      const reach = depth[cursor.state] ?? 0;
      const own = reach > 0 ? starts.get(cursor.count - reach) : utf8.pending();
      const below = decoder?.liveStart();
      return below !== undefined && below < (own ?? Infinity) ? below : own;
    },
  };
  return layer;
}
