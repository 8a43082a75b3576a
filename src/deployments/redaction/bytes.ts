import type { Found } from './chain.ts';
import type { Patterns } from './patterns.ts';
import { createStarts } from './starts.ts';
import { utf8Length } from './utf8.ts';

/** U+FFFD replaces invalid bytes. */
const REPLACEMENT = 0xff_fd;

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
  /** The bytes that the current character still needs, its bits so far, and its start. */
  let missing = 0;
  let character = 0;
  let characterStart = 0;

  const read = (code: number, start: number, end: number) => {
    state = next(state, code);
    if (state === 0) count = 0;
    else {
      starts.set(count, start, depth[state] ?? 0);
      count += 1;
    }
    const pattern = match[state] ?? -1;
    if (pattern >= 0) found(starts.get(count - (lengths[pattern] ?? 0)), end, pattern);
  };

  const readCharacter = (end: number) => {
    if (character < 0x1_00_00) return read(character, characterStart, end);
    const rest = character - 0x1_00_00;
    read(0xd8_00 | (rest >> 10), characterStart, end);
    read(0xdc_00 | (rest & 0x3_ff), characterStart, end);
  };

  return {
    push(byte, start, end) {
      if (missing > 0 && (byte & 0xc0) === 0x80) {
        character = (character << 6) | (byte & 0x3f);
        missing -= 1;
        if (missing === 0) readCharacter(end);
        return missing > 0 || state !== 0;
      }
      // The previous character is incomplete.
      if (missing > 0) read(REPLACEMENT, characterStart, start);
      missing = utf8Length(byte) - 1;
      if (missing === 0) read(byte < 0x80 ? byte : REPLACEMENT, start, end);
      character = byte & (0x3f >> missing);
      characterStart = start;
      return missing > 0 || state !== 0;
    },
    reset() {
      state = 0;
      count = 0;
      missing = 0;
    },
    liveStart() {
      if (state !== 0) return starts.get(count - (depth[state] ?? 0));
      return missing > 0 ? characterStart : undefined;
    },
  };
}
